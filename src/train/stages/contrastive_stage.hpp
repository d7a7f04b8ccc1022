// Stage 3, contrastive GRPO: prompts show earlier programs with their scores, answers are rewarded by measured speed,
// and both the weights and what is shown next follow from that (docs/grpo.md has the arithmetic).
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/stages/sampled_group.hpp"

namespace cudal1 {

//! The text of a prompt that shows these programs. Takes those out of `shown` that it has no room for: nobody copies
//! what was not there.
using MakePrompt = std::function<std::string(const TrainingTask& task, ShownPrograms& shown)>;

//! What a step came to.
struct ContrastiveStep {
  std::int64_t step = 0;
  GroupFigures figures;
  PolicyUpdate update;
  StepVitals vitals;
  double learning_rate = 0.0;
  RolloutSeconds spent;
  double learning_seconds = 0.0;
};

class ContrastiveStage {
 public:
  struct Parts {
    LearningModel* model = nullptr;
    Assessor* assessor = nullptr;
    std::span<const TrainingTask> tasks;
    MakePrompt prompt;
    //! Hears of every group, those that are sampled again included, when all of a step are judged.
    std::function<void(std::int64_t step, std::size_t group, const SampledGroup&)> sampled =
        [](std::int64_t, std::size_t, const SampledGroup&) {};
    TaskGrammar grammar = no_grammar;  //!< that answers are held to
    std::function<bool()> stop = [] { return false; };
  };
  //! The model has its reference already, see keep_as_reference().
  ContrastiveStage(const ContrastiveSettings& settings, std::uint64_t seed, std::int64_t answer_tokens, Parts parts);

  //! A success that the run has found before; to be added before the first step, in the same order every time.
  void add_known(std::size_t task, const PooledProgram& program) { pools_[task].add(program); }

  //! Nothing: somebody asked to stop before everything was judged; nothing was learned, and the step is still to do.
  std::optional<ContrastiveStep> step();
  std::int64_t steps_done() const { return steps_done_; }
  bool is_over() const { return steps_done_ >= settings_.steps; }
  //! Why the run should stop before that, in one line.
  std::optional<std::string> collapse(const CollapseLimits& limits) const { return collapse_reason(vitals_, limits); }

  //! What is not in the weights: pools, steps, what is watched.
  nlohmann::json state() const;
  //! Goes on from there. Throws Error for a state of other tasks.
  void restore(const nlohmann::json& said);

 private:
  //! Draws what it shows, anew each time it is sampled.
  void prepare(SampledGroup& group, std::size_t index) const;
  TaskPrompt asked(const SampledGroup& group, std::size_t index) const;
  //! All groups of the step, in the order in which they were sampled.
  std::vector<SampledGroup> sampled_groups(RolloutSeconds& spent);
  void sample(std::vector<SampledGroup>& groups, const std::vector<std::size_t>& indices, RolloutSeconds& spent);
  void remember(const SampledGroup& group);
  void tell(const std::vector<SampledGroup>& groups) const;
  PolicyUpdate learn(const std::vector<SampledGroup>& groups, double learning_rate);

  ContrastiveSettings settings_;
  std::uint64_t seed_;
  std::int64_t answer_tokens_;
  Parts parts_;
  std::vector<ProgramPool> pools_;  //!< by task
  std::int64_t steps_done_ = 0;
  std::vector<StepVitals> vitals_;  //!< of the last steps
};

}  // namespace cudal1
