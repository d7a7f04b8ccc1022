#include "policy/written/language_model_policy.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace cudal1 {

std::optional<std::string> LanguageModelPolicy::propose(const std::vector<ScoredProgram>& seen) {
  look_at(seen);
  bool is_answered = true;
  for (int asks = 0; is_answered && ready_.empty() && asks < writer_.options().most_fruitless_asks; ++asks)
    is_answered = broken_.empty() ? ask(seen) : ask_for_repair();
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

bool LanguageModelPolicy::ask(const std::vector<ScoredProgram>& seen) {
  const auto conversation = has_no_room_ ? std::nullopt : new_conversation(seen);
  return conversation && ask_for(writer_.options().samples_a_prompt, *conversation);
}

//! Nothing where the task is too large for any prompt, and others write for it.
std::optional<RepairConversation> LanguageModelPolicy::new_conversation(const std::vector<ScoredProgram>& seen) try {
  return writer_.new_conversation(seen);
} catch (const Error& problem) {
  if (!writer_.options().passes_without_prompt) throw;
  has_no_room_ = true;
  writer_.report(std::string(problem.what()) + " (others write for it alone)");
  return std::nullopt;
}

bool LanguageModelPolicy::ask_for_repair() {
  const RepairConversation conversation = std::move(broken_.front());
  broken_.pop_front();
  return ask_for(1, conversation);
}

bool LanguageModelPolicy::ask_for(int samples, const RepairConversation& conversation) {
  const std::uint64_t first_sample = std::exchange(next_sample_, next_sample_ + static_cast<std::uint64_t>(samples));
  const std::vector<WrittenAnswer> answers = writer_.ask(conversation, samples, first_sample);
  for (const WrittenAnswer& said : answers) take(said, conversation);
  return std::ranges::any_of(answers, [](const WrittenAnswer& said) { return said.failure.empty(); });
}

void LanguageModelPolicy::take(const WrittenAnswer& said, const RepairConversation& conversation) {
  ++totals_.samples;
  totals_.prompt_tokens += said.prompt_tokens;
  totals_.new_tokens += said.new_tokens;
  totals_.cost += said.cost;
  if (!said.failure.empty()) {
    ++totals_.failures;
    return;
  }
  const Answer& answer = said.answer;
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
