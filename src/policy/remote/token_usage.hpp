#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"

namespace cudal1 {

//! Tokens that a server counted, or that we estimated where it did not say.
struct TokenUsage {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;  //!< hidden reasoning included: it is paid for
  std::int64_t reasoning = 0;   //!< the part of completion that is no answer
  bool estimated = false;       //!< some of it is
  bool operator==(const TokenUsage&) const = default;
};

TokenUsage& operator+=(TokenUsage& sum, const TokenUsage& more);

//! Three bytes a token, rounded up. Code has three to four, so this errs upwards.
std::int64_t estimate_tokens(std::size_t bytes);
std::int64_t estimate_prompt_tokens(const std::vector<ChatMessage>& messages);

//! No tokenizer gives more: a token has at least one byte, and what a chat form adds to a message is short.
std::int64_t most_prompt_tokens(const std::vector<ChatMessage>& messages);

}  // namespace cudal1
