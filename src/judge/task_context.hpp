// Everything about one task on one backend that its candidates share: the match rule, the reference in a runner of its
// own, and how long that takes.
#pragma once

#include <functional>
#include <memory>

#include "base/stage_seconds.hpp"
#include "graph/executor.hpp"
#include "graph/inputs.hpp"
#include "judge/input_sets.hpp"
#include "judge/match.hpp"
#include "judge/plan_session.hpp"

namespace cudal1 {

class TaskContext {
 public:
  //! Whatever it returns is kept while the device is used.
  using TakeTurn = std::function<std::shared_ptr<void>()>;
  //! Called now and then while the device is used, when nothing is running there.
  using LetOthersPass = std::function<void()>;

  //! Loads nothing from disk: `task` has its metas. Throws Error when the reference itself does not run.
  //! `processes`: how many reference and candidate have. `measures`: whether anything is compared with the reference's
  //! time; else it is only looked at roughly, in this process, for limits. `take_turn`: called before the device is
  //! used. `let_others_pass`: not where the device's times are predicted, since several threads work then.
  TaskContext(
      Backend& backend, Task task, PrecisionPolicy precision, std::uint64_t seed, int processes = 1,
      bool measures = true, const TakeTurn& take_turn = [] { return nullptr; }, LetOthersPass let_others_pass = [] {});

  const Task& task() const { return task_; }
  const Plan& empty_plan() const { return empty_plan_; }
  const MatchRule& rule() const { return rule_; }
  PlanSession& reference() { return reference_; }
  PlanSession& candidate() { return candidate_; }
  at::Device tensor_device() const { return tensor_device_; }
  PrecisionFlags flags() const;
  double reference_ms() const { return reference_ms_; }
  bool degenerate() const { return degenerate_; }
  bool has_weights() const { return !task_.graph.weights.empty(); }
  const std::vector<Distribution>& distributions() const { return distributions_; }
  //! What candidates are verified on; unless told otherwise, each has sets of its own.
  InputSetStore& input_sets() { return input_sets_; }
  const InputSetStore& input_sets() const { return input_sets_; }
  void share_input_sets(int verifications, std::uint64_t most_bytes) {
    input_sets_ = InputSetStore(verifications, most_bytes);
    if (most_bytes > 0) candidate_.expect_many_plans();
  }
  //! Reference and candidates are placed as in a context of this seed.
  void reseed(std::uint64_t seed);
  //! Where the time of judging goes.
  StageSeconds& spent() { return spent_; }
  //! May the judge draw and compute what comes next while a runner is busy? Where times are measured nothing else may
  //! run, and a GPU would have to serve both.
  bool works_ahead() const { return backend_.predicted(); }
  void let_others_pass() const { let_others_pass_(); }

  //! Weights and states; `fresh` draws new weights.
  TensorTable draw_constants(std::uint64_t seed, bool fresh) const;
  //! A copy of `constants` with new inputs.
  TensorTable with_inputs(const TensorTable& constants, Distribution distribution, std::uint64_t seed) const;
  //! One of the reference's processes with these weights; new ones if one has died. Throws Error when it fails.
  void set_reference_constants(const TensorTable& constants, int process = 0);

 private:
  void time_reference(Random& random);
  void time_reference_here(Random& random);
  Result<PlanSession::Done> try_to_time_reference(Random& random);

  Backend& backend_;
  Task task_;
  at::Device tensor_device_;
  PrecisionPolicy precision_;
  Plan empty_plan_;
  MatchRule rule_;
  PlanSession reference_, candidate_;
  std::vector<Distribution> distributions_;
  InputSetStore input_sets_;
  StageSeconds spent_;
  LetOthersPass let_others_pass_;
  double reference_ms_ = 0.0;
  bool degenerate_ = false, measures_;
};

}  // namespace cudal1
