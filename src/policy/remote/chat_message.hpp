#pragma once

#include <string>

namespace cudal1 {

//! One turn of a conversation, as chat servers take it.
struct ChatMessage {
  std::string role;  //!< "system", "user" or "assistant"
  std::string content;
};

}  // namespace cudal1
