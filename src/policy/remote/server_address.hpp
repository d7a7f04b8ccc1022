#pragma once

#include <string>

namespace cudal1 {

//! Where a chat server is.
struct ServerAddress {
  std::string base;       //!< "https://api.example.com/v1": lower-case scheme and host, no slash at the end
  std::string host;       //!< for messages, with the port where one is given
  bool is_local = false;  //!< this machine: localhost, 127.0.0.0/8 or ::1

  std::string chat_completions() const { return base + "/chat/completions"; }
};

//! Throws UsageError for what is no address, holds a user, a password or a query (they would be written and logged), or
//! sends prompts and key unencrypted to another machine, unless that is allowed.
ServerAddress parse_server_address(const std::string& text, bool allow_unencrypted);

}  // namespace cudal1
