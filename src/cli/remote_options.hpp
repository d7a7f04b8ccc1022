// Options of commands that ask a chat server for programs (docs/remote.md).
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "policy/remote/chat_client.hpp"

namespace cudal1 {

struct RemoteOptions {
  std::string server;                           //!< empty: OPENAI_BASE_URL
  std::string key_variable = "OPENAI_API_KEY";  //!< the name of a variable, never a key
  std::optional<bool> reasoning;                //!< not set: by the model's name
  std::optional<int> max_tokens;                //!< of an answer; not given: by the form of the prompt
  bool no_stream = false, no_cache = false;
  ChatParameters parameters;
  ChatClientOptions client;
};

//! `--server`, `--remote-model` and all others; `options` must outlive the command.
void add_remote_options(CLI::App& command, RemoteOptions& options);

//! What a ChatClient is made with; throws UsageError where no server is named.
ChatClientOptions chat_client_options(const RemoteOptions& options);

}  // namespace cudal1
