// What became of one sample: an answer, or the reason why there is none. Failure is data here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/chat_message.hpp"
#include "policy/remote/token_usage.hpp"

namespace cudal1 {

std::string_view to_string(FinishReason reason);
std::optional<FinishReason> finish_reason_from_string(std::string_view name);  //!< what to_string gives

struct ChatSample {
  std::string text;                 //!< the answer, without reasoning
  std::size_t reasoning_bytes = 0;  //!< of the reasoning that the server showed
  FinishReason finish = FinishReason::unknown;
  TokenUsage tokens;  //!< this sample's share of its request
  double cost = 0.0;  //!< 0 from the cache
  int attempts = 0;   //!< HTTP requests that it took; 0 from the cache
  bool from_cache = false;
};

enum class ChatFailureKind {
  unreachable,
  untrusted,
  timed_out,
  cut,           //!< the connection ended in the middle of an answer, every time
  rate_limited,  //!< 429, every time, or the account is empty
  server_error,
  unauthorized,  //!< 401, 403
  not_found,     //!< 404: no such model or no such address
  bad_request,   //!< 400 and the like
  bad_answer,    //!< no JSON, no UTF-8, no choices, a page, a redirection, a body without end
  ceiling,       //!< not sent: it could have passed --max-cost
  cancelled,
};

std::string_view to_string(ChatFailureKind kind);

struct ChatFailure {
  ChatFailureKind kind = ChatFailureKind::bad_answer;
  std::string message;  //!< one line: what happened and what to do; never holds the key
  int http_status = 0;  //!< 0: none came
  int attempts = 0;
};

//! One of the two is set.
struct ChatSampleOutcome {
  std::optional<ChatSample> sample;
  std::optional<ChatFailure> failure;
  bool ok() const { return sample.has_value(); }
};

}  // namespace cudal1
