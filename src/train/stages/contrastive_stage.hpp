// Stage 3, contrastive GRPO: prompts show earlier programs with their scores, answers are rewarded by measured speed,
// and both the weights and what is shown next follow from that (docs/grpo.md has the arithmetic).
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
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
  bool has_update = false;  //!< some group taught something; else the update's numbers say nothing
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
  //! A success at the task was made by these techniques: who earns everything by others passes it over.
  void add_known_trick(std::size_t task, const std::vector<std::string>& techniques) {
    tricks_[task].insert(trick_of(techniques));
  }

  //! Nothing: somebody asked to stop before everything was judged; nothing was learned, and the step is still to do.
  //! A model whose scores are not numbers makes a step that is left out. Where it writes ahead, programs of the next
  //! step are judged beside the caller afterwards, see settle().
  std::optional<ContrastiveStep> step();
  //! Waits for what is judged beside the caller, who may ask the assessor then.
  void settle();
  std::int64_t steps_done() const { return steps_done_; }
  bool is_over() const { return steps_done_ >= settings_.steps; }
  //! Why the run should stop before that, in one line.
  std::optional<std::string> collapse(const CollapseLimits& limits) const { return collapse_reason(vitals_, limits); }
  //! The same of what state() said once.
  static std::optional<std::string> collapse(const nlohmann::json& state, const CollapseLimits& limits);

  //! What is not in the weights: pools, steps, what is watched.
  nlohmann::json state() const;
  //! Goes on from there. Throws Error for a state of other tasks.
  void restore(const nlohmann::json& said);

 private:
  //! Groups whose answers are written together, and judged together.
  struct Round {
    std::int64_t step = 0;
    std::vector<SampledGroup> groups;
    std::vector<TaskPrompt> prompts;                 //!< of each group
    std::vector<std::vector<JudgedAnswer>> answers;  //!< of each group, until they are judged
    RolloutSeconds spent;
    std::future<void> judging;  //!< nothing: not begun, or through
  };

  std::vector<SampledGroup> groups_of(std::int64_t step) const;
  //! Draws what each shows, anew each time it is sampled.
  std::unique_ptr<Round> written(std::int64_t step, std::vector<SampledGroup> groups);
  void begin_judging(Round& round) const;
  //! Judged and weighed; what they have found may be shown from now on.
  std::vector<SampledGroup> weighed(Round& round, RolloutSeconds& spent);
  //! The step's first round; where it writes ahead, the next step's as well, beside its being judged.
  std::vector<SampledGroup> first_round(RolloutSeconds& spent);
  //! All groups of the step, in the order in which they were sampled.
  std::vector<SampledGroup> sampled_groups(RolloutSeconds& spent);
  std::optional<std::vector<SampledGroup>> groups_to_learn_from(ContrastiveStep& made);
  void remember(const SampledGroup& group);
  void tell(const std::vector<SampledGroup>& groups) const;
  void learn(const std::vector<SampledGroup>& groups, ContrastiveStep& made);
  void finish(ContrastiveStep& made);

  ContrastiveSettings settings_;
  std::uint64_t seed_;
  std::int64_t answer_tokens_;
  Parts parts_;
  std::vector<ProgramPool> pools_;             //!< by task
  std::vector<std::set<std::string>> tricks_;  //!< by task: those known to succeed
  std::int64_t steps_done_ = 0;
  std::vector<StepVitals> vitals_;  //!< of the last steps
  std::unique_ptr<Round> ahead_;    //!< of the next step, written already; its judging ends before the rest goes
};

}  // namespace cudal1
