#include "train/stages/judged_answers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/seconds_since.hpp"
#include "base/utf8.hpp"
#include "policy/prompt/answer.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

JudgedAnswer read(SampledAnswer said) {
  const Answer found = read_answer(said.text, said.finish);
  JudgedAnswer made{std::move(said), {}, {}};
  if (found.outcome == AnswerOutcome::program)
    made.program = replace_invalid_utf8(found.program);  // it is kept as JSON and shown in prompts
  else
    made.assessment.message = found.reason;
  return made;
}

}  // namespace

std::vector<std::vector<JudgedAnswer>> written_answers(LearningModel& model, std::span<const TaskPrompt> prompts,
                                                       RolloutSeconds& spent) {
  const auto begin = Clock::now();
  std::vector<PromptToAnswer> asked;
  for (const TaskPrompt& prompt : prompts) asked.push_back(prompt.asked);
  std::vector<std::vector<JudgedAnswer>> groups;
  for (std::vector<SampledAnswer>& written : model.answers(asked)) {
    groups.emplace_back();
    for (SampledAnswer& said : written) {
      spent.new_tokens += static_cast<std::int64_t>(said.tokens.size());
      groups.back().push_back(read(std::move(said)));
    }
  }
  spent.writing += seconds_since(begin);
  return groups;
}

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
  spent.programs += std::ranges::count(assessed, false, &Assessment::is_known);
  for (std::size_t i = 0; i < assessed.size(); ++i) from[i]->assessment = std::move(assessed[i]);
  spent.judging += seconds_since(begin);
}

std::vector<std::vector<JudgedAnswer>> judged_answers(LearningModel& model, Assessor& assessor,
                                                      std::span<const TaskPrompt> prompts, RolloutSeconds& spent) {
  std::vector<std::vector<JudgedAnswer>> groups = written_answers(model, prompts, spent);
  judge(assessor, prompts, groups, spent);
  return groups;
}

}  // namespace cudal1
