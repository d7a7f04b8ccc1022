// Stage 2: the model writes, the judge tests, and it learns from its own successes, mixed with pairs of stage 1 so that
// it does not forget. How fast they are does not matter here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/data/training_example.hpp"
#include "train/run/training_config.hpp"
#include "train/stages/judged_answers.hpp"
#include "train/stages/program_pool.hpp"

namespace cudal1 {

//! The text of a prompt that shows these programs and asks for one of this form.
using MakeFormPrompt = std::function<std::string(const TrainingTask& task, const std::vector<PromptExemplar>& exemplars,
                                                 ProgramForm form)>;

struct SelfSupervisedStep {
  std::int64_t step = 0;
  double learning_rate = 0.0;
  double success_rate = 0.0;              //!< of all answers
  double distinct_plans = 0.0;            //!< mean over prompts
  double reward = 0.0;                    //!< mean of samples that count, ln(speed-up) of copies as well
  double best_speedup = 0.0;              //!< 0: no success
  double mean_log_speedup = 0.0;          //!< of successes whose time settled
  std::int64_t learned = 0, samples = 0;  //!< learned: own successes
  SupervisedUpdate update;
  RolloutSeconds spent;
  double learning_seconds = 0.0;
};

class SelfSupervisedStage {
 public:
  struct Parts {
    LearningModel* model = nullptr;
    Assessor* assessor = nullptr;
    std::span<const TrainingTask> tasks;
    std::span<const TrainingExample> examples;  //!< of stage 1
    MakeFormPrompt prompt;
    //! Hears of each prompt's answers.
    std::function<void(std::int64_t step, const TrainingTask& task, const std::vector<JudgedAnswer>& answers)> sampled =
        [](std::int64_t, const TrainingTask&, const std::vector<JudgedAnswer>&) {};
    TaskGrammar grammar = no_grammar;  //!< of answers in directives; those with CUDA code are free
    std::function<bool()> stop = [] { return false; };
  };
  SelfSupervisedStage(const SelfSupervisedSettings& settings, double written_out_share, std::uint64_t seed,
                      Parts parts);

  //! A program that prompts may show; to be added before the first step.
  void add_known(std::size_t task, const PooledProgram& program) { pools_[task].add(program); }
  void set_answer_tokens(std::int64_t directives, std::int64_t written_out);

  //! Nothing: somebody asked to stop before everything was judged; nothing was learned, and the step is still to do.
  std::optional<SelfSupervisedStep> step();
  std::int64_t steps() const { return steps_; }
  std::int64_t steps_done() const { return steps_done_; }
  void go_on_from(std::int64_t steps_done) { steps_done_ = steps_done; }
  bool is_over() const { return steps_done_ >= steps_; }

 private:
  TaskPrompt prompt_of(std::size_t task, std::size_t index) const;
  //! At most `most_plans` distinct ones of each prompt.
  std::vector<PromptAndAnswer> successes(std::span<const TaskPrompt> prompts,
                                         const std::vector<std::vector<JudgedAnswer>>& groups,
                                         SelfSupervisedStep& made) const;
  std::int64_t own_pairs() const;

  SelfSupervisedSettings settings_;
  double written_out_share_;
  std::uint64_t seed_;
  Parts parts_;
  std::vector<ProgramPool> pools_;  //!< by task
  std::int64_t directive_tokens_ = 160, written_out_tokens_ = 700;
  std::int64_t tasks_a_step_ = 1, steps_ = 0, steps_done_ = 0;
};

}  // namespace cudal1
