// Stage 2: the model writes, the judge tests, and it learns from its own successes, mixed with pairs of stage 1 so that
// it does not forget. How fast they are does not matter here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
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
  bool has_update = false;  //!< there was a success of its own to learn from; else the update's numbers say nothing
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
    RewardOptions reward = {};  //!< of stage 3: what a success is, and what it would earn there
  };
  SelfSupervisedStage(const SelfSupervisedSettings& settings, double written_out_share, std::uint64_t seed,
                      Parts parts);

  //! A program that prompts may show; to be added before the first step.
  void add_known(std::size_t task, const PooledProgram& program) { pools_[task].add(program); }
  void set_answer_tokens(std::int64_t directives, std::int64_t written_out);

  //! Nothing: somebody asked to stop before everything was judged; nothing was learned, and the step is still to do. A
  //! model whose scores are not numbers makes a step that is left out.
  std::optional<SelfSupervisedStep> step();
  std::int64_t steps() const { return steps_; }
  std::int64_t steps_done() const { return steps_done_; }
  bool is_over() const { return steps_done_ >= steps_; }

  //! What is not in the weights: which plans of each task were learned from.
  nlohmann::json state() const;
  //! Goes on after so many steps. Throws Error for a state that it did not make.
  void restore(std::int64_t steps_done, const nlohmann::json& said);

 private:
  std::vector<TaskPrompt> prompts_of_step() const;
  TaskPrompt prompt_of(std::size_t task, std::size_t index) const;
  //! Each plan of a prompt once, and of a task at most `most_plans` distinct ones in all rounds.
  std::vector<PromptAndAnswer> successes(std::span<const TaskPrompt> prompts,
                                         const std::vector<std::vector<JudgedAnswer>>& groups,
                                         SelfSupervisedStep& made);
  bool may_learn(const std::string& task_hash, const std::string& plan_hash);
  void learn(std::vector<PromptAndAnswer> pairs, SelfSupervisedStep& made);
  std::int64_t borrowed_pairs(std::int64_t own) const;
  std::int64_t own_pairs() const;

  SelfSupervisedSettings settings_;
  double written_out_share_;
  std::uint64_t seed_;
  Parts parts_;
  std::vector<ProgramPool> pools_;                              //!< by task
  std::map<std::string, std::set<std::string>> learned_plans_;  //!< by task hash, of all rounds
  std::int64_t directive_tokens_ = 160, written_out_tokens_ = 700;
  std::int64_t tasks_a_step_ = 1, steps_ = 0, steps_done_ = 0;
};

}  // namespace cudal1
