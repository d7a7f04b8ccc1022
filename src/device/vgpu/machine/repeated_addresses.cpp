#include "device/vgpu/machine/repeated_addresses.hpp"

#include <map>
#include <set>

namespace cudal1::vgpu {
namespace {

std::vector<bool> branch_targets(const std::vector<Step>& steps) {
  std::vector<bool> targets(steps.size());
  for (const Step& step : steps)
    if (step.flow == Flow::branch) targets[step.target] = true;
  return targets;
}

//! A load, a store or an atomic: those that have a pattern of their own.
bool is_access(const Step& step) { return step.flow == Flow::effect && step.pattern != 0; }

//! By register, the patterns that its addresses have just been compared with.
class Compared {
 public:
  void forget_all() { patterns_.clear(); }

  //! What it writes. Registers that a store reads are among them: that costs little and is right.
  void forget_results(const Step& step) {
    patterns_.erase(step.operation.result);
    patterns_.erase(step.operation.second_result);
    for (const Slot slot : step.data) patterns_.erase(slot);
  }

  //! Whether it was there already.
  bool add(const Step& access) { return !patterns_[access.operation.operands[0]].insert(access.pattern).second; }

 private:
  std::map<Slot, std::set<std::uint32_t>> patterns_;
};

}  // namespace

//! Lanes come and go at branches, their targets, barriers and where lanes wait for each other, and nowhere else. A
//! guard would have to let the same lanes through as before, so only steps without one count.
void mark_repeated_addresses(Kernel& kernel) {
  const std::vector<bool> targets = branch_targets(kernel.steps);
  Compared compared;
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    Step& step = kernel.steps[i];
    if (targets[i] || (step.flow != Flow::compute && !is_access(step))) compared.forget_all();
    if (is_access(step) && step.guard == 0) step.address_repeated = compared.add(step);
    if (step.flow == Flow::compute || is_access(step)) compared.forget_results(step);
  }
}

}  // namespace cudal1::vgpu
