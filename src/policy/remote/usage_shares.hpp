// A server counts the tokens of a request; each of its answers gets its share.
#pragma once

#include <vector>

#include "model/chat_message.hpp"
#include "policy/remote/answer_reader.hpp"
#include "policy/remote/chat_sample.hpp"
#include "policy/remote/cost_meter.hpp"

namespace cudal1 {

//! What the server counted, else an estimate from the bytes that went and came.
TokenUsage usage_or_estimate(const ServerAnswer& answer, const std::vector<ChatMessage>& messages);

//! One for each choice; their tokens and costs add up to those of the request. The first has the prompt.
std::vector<ChatSample> samples_of(ServerAnswer answer, const std::vector<ChatMessage>& messages, const Prices& prices);

}  // namespace cudal1
