// Steps of a call side by side: which of them need which others, and how they share the branches of a CUDA Graph.
#pragma once

#include <functional>
#include <vector>

#include "program/plan.hpp"

namespace cudal1 {

inline constexpr int most_graph_branches = 8;
inline constexpr std::size_t most_branched_steps = 4096;  // what is before what takes memory by the square

//! By argument of a launch: may the kernel write through it?
using MayWrite = std::function<std::vector<bool>(const LaunchStep& launch)>;

//! By step of the call: the earlier steps that must be done before it, without those that follow from others. One is
//! needed where both touch a buffer and one of them may write it: results, states, scratch memory, zeros.
std::vector<std::vector<std::size_t>> needed_steps(const Plan& plan, const MayWrite& may_write);

//! Each step on the branch where it can start first, if steps take as long as what they touch is large. Empty where
//! nothing runs side by side.
std::vector<BranchStep> spread_over_branches(const Plan& plan, int branches, const MayWrite& may_write);

//! 1 where steps run one after the other.
std::size_t branch_count(const Plan& plan);

//! What every run of a call keeps to, on however many branches.
class StepOrder {
 public:
  explicit StepOrder(const Plan& plan);

  //! Is one step done whenever the other begins?
  bool is_before(std::size_t step, std::size_t other) const {
    return before_.empty() ? step < other : before_[other][step];
  }
  int branch_of(std::size_t step) const { return branches_.empty() ? 0 : branches_[step].branch; }

  //! All steps, each behind those that are before it, and otherwise as unlike the plan's order as it can be: what was
  //! overlooked when branches were made shows as a wrong result.
  std::vector<std::size_t> unlike_the_plan() const;

 private:
  std::size_t steps_;
  std::vector<BranchStep> branches_;
  std::vector<std::vector<bool>> before_;  // by step; empty: as the plan lists them
};

}  // namespace cudal1
