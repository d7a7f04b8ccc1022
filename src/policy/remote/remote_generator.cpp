#include "policy/remote/remote_generator.hpp"

#include <utility>

#include "policy/token_count.hpp"

namespace cudal1 {
namespace {

GeneratedText text_of(const ChatSampleOutcome& outcome) {
  if (outcome.failure) return {.text = {}, .failure = outcome.failure->message};
  const ChatSample& sample = *outcome.sample;
  return {sample.text, sample.finish, sample.tokens.prompt, sample.tokens.completion, sample.cost, {}};
}

}  // namespace

ChatRequest RemoteGenerator::chat_request(const GenerationRequest& request) const {
  ChatRequest made{request.messages, parameters_, request.samples, static_cast<int>(request.first_sample)};
  made.parameters.max_tokens = static_cast<int>(request.answer_tokens);
  return made;
}

std::vector<GeneratedText> RemoteGenerator::generate(const GenerationRequest& request) {
  const ChatRequest asked = chat_request(request);
  if (announce_) std::exchange(announce_, nullptr)(client_.estimate({asked}));
  std::vector<GeneratedText> texts;
  for (const ChatSampleOutcome& outcome : client_.complete(asked)) texts.push_back(text_of(outcome));
  return texts;
}

std::size_t RemoteGenerator::count_tokens(std::string_view text) const { return estimated_tokens(text); }

}  // namespace cudal1
