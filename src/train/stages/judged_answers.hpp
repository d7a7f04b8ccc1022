// Answers of a model to prompts for tasks, each judged: what stages 2 and 3 learn from, and what arms are compared by.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "train/assess/assessor.hpp"
#include "train/rollout/learning_model.hpp"

namespace cudal1 {

//! The grammar of a task's answers in directives, as GBNF; empty: they are free.
using TaskGrammar = std::function<std::string(const TrainingTask& task)>;
inline std::string no_grammar(const TrainingTask&) { return {}; }

//! A prompt for a task.
struct TaskPrompt {
  const TrainingTask* task = nullptr;
  PromptToAnswer asked;
};

struct JudgedAnswer {
  SampledAnswer answer;
  std::string program;  //!< found in it; empty: none
  Assessment assessment;
};

//! How long what took, by the wall clock.
struct RolloutSeconds {
  double writing = 0.0, judging = 0.0;
  std::int64_t new_tokens = 0, programs = 0;  //!< programs: judged, not only looked up

  RolloutSeconds& operator+=(const RolloutSeconds& other) {
    writing += other.writing, judging += other.judging;
    new_tokens += other.new_tokens, programs += other.programs;
    return *this;
  }
};

//! Of each prompt its answers, in their order, with the programs in them; nothing is judged yet. One without a whole
//! program is a parse error that says why.
std::vector<std::vector<JudgedAnswer>> written_answers(LearningModel& model, std::span<const TaskPrompt> prompts,
                                                       RolloutSeconds& spent);

//! Judges those that have a program. They go to the assessor all at once, so that it can compile some while it measures
//! others.
void judge(Assessor& assessor, std::span<const TaskPrompt> prompts, std::vector<std::vector<JudgedAnswer>>& groups,
           RolloutSeconds& spent);

//! Both, one after the other.
std::vector<std::vector<JudgedAnswer>> judged_answers(LearningModel& model, Assessor& assessor,
                                                      std::span<const TaskPrompt> prompts, RolloutSeconds& spent);

}  // namespace cudal1
