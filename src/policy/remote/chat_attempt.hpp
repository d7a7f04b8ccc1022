#pragma once

#include <functional>
#include <optional>
#include <string>

#include "policy/remote/answer_reader.hpp"
#include "policy/remote/http_connection.hpp"
#include "policy/remote/server_errors.hpp"

namespace cudal1 {

//! One HTTP request, sent once.
struct ChatAttempt {
  const ServerContext& context;
  const HttpLimits& limits;
  std::string ca_file;
  std::string body;  //!< JSON
  int count = 1;     //!< the n in it
};

struct AttemptResult {
  ServerAnswer answer;  //!< whole if there is no failure
  std::optional<AttemptFailure> failure;
  std::string retry_after;  //!< the header, as it came
  bool may_cost = false;    //!< the server has begun to answer
};

AttemptResult attempt_chat(const ChatAttempt& attempt, HttpConnection& connection,
                           const AnswerReader::TextSink& on_text, const std::function<bool()>& cancelled);

}  // namespace cudal1
