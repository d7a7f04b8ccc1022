#include "policy/remote/token_usage.hpp"

#include "policy/token_count.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t form_tokens_per_message = 4;        // <|im_start|>user\n … <|im_end|>\n
constexpr std::size_t most_form_tokens_per_message = 32;  // a system message that the server's form adds, spread out

std::size_t content_bytes(const std::vector<ChatMessage>& messages) {
  std::size_t bytes = 0;
  for (const auto& message : messages) bytes += to_string(message.role).size() + message.text.size();
  return bytes;
}

}  // namespace

TokenUsage& operator+=(TokenUsage& sum, const TokenUsage& more) {
  sum.prompt += more.prompt;
  sum.completion += more.completion;
  sum.reasoning += more.reasoning;
  sum.estimated |= more.estimated;
  return sum;
}

std::int64_t estimate_tokens(std::size_t bytes) { return static_cast<std::int64_t>(estimated_tokens_of_bytes(bytes)); }

std::int64_t estimate_prompt_tokens(const std::vector<ChatMessage>& messages) {
  return estimate_tokens(content_bytes(messages)) +
         static_cast<std::int64_t>(messages.size() * form_tokens_per_message);
}

std::int64_t most_prompt_tokens(const std::vector<ChatMessage>& messages) {
  return static_cast<std::int64_t>(content_bytes(messages) + (messages.size() + 1) * most_form_tokens_per_message);
}

}  // namespace cudal1
