#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"

namespace cudal1 {

//! How answers are drawn; what is not set is not sent, and the server has its own default.
struct ChatParameters {
  std::optional<double> temperature, top_p;  //!< not sent to reasoning models, which refuse them
  int max_tokens = 4096;                     //!< of an answer, hidden reasoning included
  std::optional<std::int64_t> seed;          //!< sample k is drawn with seed + k
  std::vector<std::string> stop;
  std::string reasoning_effort;  //!< "low", "medium", "high" for reasoning models; empty: the server's
};

//! A conversation that is to be continued `samples` times.
struct ChatRequest {
  std::vector<ChatMessage> messages;
  ChatParameters parameters = {};
  int samples = 1;
  int first_sample = 0;  //!< samples are numbered: asking for the same number again means the same answer
};

//! Which model, and the way in which its server wants to be asked.
struct ModelChoice {
  std::string name;
  bool reasoning = false;  //!< max_completion_tokens for max_tokens, no temperature, no top_p
  bool stream = true;
};

//! Whether a model of that name is known for hidden reasoning (o1, o3-mini, gpt-5, …, with or without a vendor before).
bool is_reasoning_model(std::string_view name);

//! The JSON that is sent: `count` answers, the first of which has number `sample`.
std::string request_body(const ChatRequest& request, const ModelChoice& model, int count, int sample);

//! 64 hexadecimal digits made of everything that an answer depends on.
std::string response_key(const ChatRequest& request, const ModelChoice& model, std::string_view base_url, int sample);

}  // namespace cudal1
