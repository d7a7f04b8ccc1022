#include "policy/remote/usage_shares.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

std::size_t bytes_of(const AnswerChoice& choice) { return choice.text.size() + choice.reasoning_bytes; }

//! `part` of `whole` of the tokens; 0 of 0 is 0.
std::int64_t share(std::int64_t tokens, std::size_t part, std::size_t whole) {
  if (whole == 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(tokens) * static_cast<double>(part) /
                                   static_cast<double>(whole));
}

//! Servers that show their reasoning often do not count it apart.
void count_shown_reasoning(TokenUsage& tokens, const AnswerChoice& choice) {
  if (tokens.reasoning > 0 || choice.reasoning_bytes == 0) return;
  tokens.reasoning = share(tokens.completion, choice.reasoning_bytes, bytes_of(choice));
}

}  // namespace

TokenUsage usage_or_estimate(const ServerAnswer& answer, const std::vector<ChatMessage>& messages) {
  if (answer.usage) return *answer.usage;
  TokenUsage usage;
  usage.prompt = estimate_prompt_tokens(messages);
  usage.completion = estimate_tokens(answer.bytes_of_text);
  usage.estimated = true;
  return usage;
}

std::vector<ChatSample> samples_of(ServerAnswer answer, const std::vector<ChatMessage>& messages,
                                   const Prices& prices) {
  const TokenUsage usage = usage_or_estimate(answer, messages);
  std::size_t whole = 0;
  for (const auto& choice : answer.choices) whole += bytes_of(choice);
  std::vector<ChatSample> samples;
  TokenUsage left = usage;
  for (auto& choice : answer.choices) {
    ChatSample sample;
    sample.tokens.completion = share(usage.completion, bytes_of(choice), whole);
    sample.tokens.reasoning = share(usage.reasoning, bytes_of(choice), whole);
    sample.tokens.estimated = usage.estimated;
    left.completion -= sample.tokens.completion;
    left.reasoning -= sample.tokens.reasoning;
    sample.reasoning_bytes = choice.reasoning_bytes;
    sample.finish = choice.finish;
    samples.push_back(std::move(sample));
  }
  samples.front().tokens += left;  // the prompt, and what rounding left
  for (std::size_t at = 0; at < samples.size(); ++at) {
    count_shown_reasoning(samples[at].tokens, answer.choices[at]);
    samples[at].cost = cost_of(samples[at].tokens, prices);
    samples[at].text = std::move(answer.choices[at].text);
  }
  return samples;
}

}  // namespace cudal1
