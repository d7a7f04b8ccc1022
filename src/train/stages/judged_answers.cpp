#include "train/stages/judged_answers.hpp"

#include <chrono>
#include <utility>

#include "base/seconds_since.hpp"
#include "base/utf8.hpp"
#include "policy/prompt/answer.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::vector<SampledAnswer>> written_answers(LearningModel& model, std::span<const TaskPrompt> prompts,
                                                        RolloutSeconds& spent) {
  const auto begin = Clock::now();
  std::vector<PromptToAnswer> asked;
  for (const TaskPrompt& prompt : prompts) asked.push_back(prompt.asked);
  std::vector<std::vector<SampledAnswer>> written = model.answers(asked);
  for (const std::vector<SampledAnswer>& group : written)
    for (const SampledAnswer& answer : group) spent.new_tokens += static_cast<std::int64_t>(answer.tokens.size());
  spent.writing += seconds_since(begin);
  return written;
}

JudgedAnswer read(SampledAnswer said) {
  const Answer found = read_answer(said.text, said.finish);
  JudgedAnswer made{std::move(said), {}, {}};
  if (found.outcome == AnswerOutcome::program)
    made.program = replace_invalid_utf8(found.program);  // it is kept as JSON and shown in prompts
  else
    made.assessment.message = found.reason;
  return made;
}

//! Programs go to the assessor all at once, so that it can compile some while it measures others.
void judge(Assessor& assessor, std::span<const TaskPrompt> prompts, std::vector<std::vector<JudgedAnswer>>& groups,
           RolloutSeconds& spent) {
  const auto begin = Clock::now();
  std::vector<SubmittedProgram> programs;
  std::vector<JudgedAnswer*> from;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (JudgedAnswer& answer : groups[i]) {
      if (answer.program.empty()) continue;
      programs.push_back({prompts[i].task, answer.program});
      from.push_back(&answer);
    }
  std::vector<Assessment> assessed = assessor.assess(programs);
  for (std::size_t i = 0; i < assessed.size(); ++i) from[i]->assessment = std::move(assessed[i]);
  spent.programs += std::ssize(programs);
  spent.judging += seconds_since(begin);
}

}  // namespace

std::vector<std::vector<JudgedAnswer>> judged_answers(LearningModel& model, Assessor& assessor,
                                                      std::span<const TaskPrompt> prompts, RolloutSeconds& spent) {
  std::vector<std::vector<JudgedAnswer>> groups;
  for (std::vector<SampledAnswer>& written : written_answers(model, prompts, spent)) {
    groups.emplace_back();
    for (SampledAnswer& said : written) groups.back().push_back(read(std::move(said)));
  }
  judge(assessor, prompts, groups, spent);
  return groups;
}

}  // namespace cudal1
