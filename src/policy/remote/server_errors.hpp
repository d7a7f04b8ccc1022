// One line for a person about what a server did wrong, and whether to try again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "policy/remote/answer_reader.hpp"
#include "policy/remote/api_key.hpp"
#include "policy/remote/chat_request.hpp"
#include "policy/remote/chat_sample.hpp"
#include "policy/remote/http_connection.hpp"
#include "policy/remote/server_address.hpp"

namespace cudal1 {

//! Who is asked for what; messages name it.
struct ServerContext {
  ServerAddress address;
  ModelChoice model;
  ApiKey key;
};

struct AttemptFailure {
  ChatFailure failure;
  bool retry = false;
};

//! The beginning of what a server sent, in one line of readable characters, the key taken out.
std::string snippet(std::string_view text, const ApiKey& key);

//! What an error body says, in any of the usual forms; empty if it says nothing.
std::string error_message_in(const nlohmann::json& body);

//! No answer came, or not the whole.
AttemptFailure transport_failure(const HttpOutcome& outcome, const ServerContext& context);

//! A status other than 200. `body` is its beginning.
AttemptFailure status_failure(const HttpOutcome& outcome, std::string_view body, const ServerContext& context);

//! A status of 200, and a body that is no answer.
AttemptFailure answer_failure(const ServerAnswer& answer, const HttpOutcome& outcome, const ServerContext& context);

}  // namespace cudal1
