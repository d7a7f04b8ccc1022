#include "policy/written/language_model_policy.hpp"

#include <utility>

#include "policy/prompt/answer.hpp"

namespace cudal1 {
namespace {

PromptOptions prompt_options(const TextGenerator& generator, const LanguageModelOptions& options) {
  PromptOptions made;
  made.form = options.form;
  made.context_tokens = generator.context_tokens();
  made.answer_tokens = options.answer_tokens;
  made.card = options.card;
  made.count_tokens = [&generator](std::string_view text) { return generator.count_tokens(text); };
  return made;
}

}  // namespace

LanguageModelPolicy::LanguageModelPolicy(TextGenerator& generator, PromptSubject subject, LanguageModelOptions options,
                                         Random random, std::function<void(const std::string&)> report)
    : generator_(generator),
      subject_(std::move(subject)),
      options_(std::move(options)),
      random_(random),
      report_(std::move(report)) {}

std::optional<std::string> LanguageModelPolicy::propose(const std::vector<ScoredProgram>& seen) {
  look_at(seen);
  for (int asks = 0; ready_.empty() && asks < options_.most_fruitless_asks; ++asks)
    broken_.empty() ? ask(seen) : ask_for_repair();
  if (ready_.empty()) return std::nullopt;
  std::string text = std::move(ready_.front());
  ready_.pop_front();
  return text;
}

//! Programs of ours that failed go back to the model.
void LanguageModelPolicy::look_at(const std::vector<ScoredProgram>& seen) {
  for (; looked_at_ < seen.size(); ++looked_at_) {
    const ScoredProgram& program = seen[looked_at_];
    known_.insert(program.text);
    const auto ours = conversations_.find(program.text);
    if (ours == conversations_.end()) continue;
    if (program.failure.status != Status::ok) go_on(std::move(ours->second), {program.text, program.failure});
    conversations_.erase(ours);
  }
}

void LanguageModelPolicy::go_on(RepairConversation conversation, const FailedAttempt& failed) {
  if (!is_repairable(failed.failure.status) || !conversation.add_failure(failed)) return;
  ++totals_.repairs;
  broken_.push_back(std::move(conversation));
}

RepairConversation LanguageModelPolicy::new_conversation(const std::vector<ScoredProgram>& seen) {
  PromptSubject shown = subject_;
  for (const std::size_t index : select_exemplars(seen, options_.exemplars, random_))
    shown.exemplars.push_back({seen[index].text, seen[index].reward});
  const PromptOptions options = prompt_options(generator_, options_);
  return {make_prompt(shown, options), options, options_.repair_turns};
}

void LanguageModelPolicy::ask(const std::vector<ScoredProgram>& seen) {
  const RepairConversation conversation = new_conversation(seen);
  for (const GeneratedText& said : generator_.generate(request_for(conversation, options_.samples_a_prompt)))
    take(said, conversation);
}

GenerationRequest LanguageModelPolicy::request_for(const RepairConversation& conversation, int samples) {
  GenerationRequest request{conversation.messages(), samples, next_sample_};
  request.answer_tokens = options_.answer_tokens.value_or(default_answer_tokens(options_.form));
  request.grammar = options_.grammar;
  next_sample_ += static_cast<std::uint64_t>(samples);
  return request;
}

void LanguageModelPolicy::ask_for_repair() {
  const RepairConversation conversation = std::move(broken_.front());
  broken_.pop_front();
  for (const GeneratedText& said : generator_.generate(request_for(conversation, 1))) take(said, conversation);
}

void LanguageModelPolicy::take(const GeneratedText& said, const RepairConversation& conversation) {
  ++totals_.samples;
  totals_.prompt_tokens += said.prompt_tokens;
  totals_.new_tokens += said.new_tokens;
  totals_.cost += said.cost;
  if (!said.failure.empty()) {
    ++totals_.failures;
    report_(said.failure);
    return;
  }
  const Answer answer = read_answer(said.text, said.finish);
  switch (answer.outcome) {
    case AnswerOutcome::program:
      return take_program(answer, conversation);
    case AnswerOutcome::empty_program:
      ++totals_.empty_programs;
      break;
    case AnswerOutcome::no_program:
      ++totals_.no_program;
      break;
    case AnswerOutcome::refusal:
      ++totals_.refusals;
      break;
    case AnswerOutcome::cut_off:
      ++totals_.cut_off;
      break;
  }
  RepairConversation longer = conversation;
  if (!longer.add_failure(answer)) return;
  ++totals_.repairs;
  broken_.push_back(std::move(longer));
}

void LanguageModelPolicy::take_program(const Answer& answer, const RepairConversation& conversation) {
  if (!known_.insert(answer.program).second) {
    ++totals_.copies;
    return;
  }
  ++totals_.programs;
  conversations_.emplace(answer.program, conversation);
  ready_.push_back(answer.program);
}

}  // namespace cudal1
