#include "device/vgpu/machine/machine_counts.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::vgpu {
namespace {

struct Sums {
  std::array<double, pipe_count> work{};
  double issue = 0, arithmetic = 0, shared = 0, global = 0;

  void add(double times, const MachineWork& one, const WarpWaits& waits) {
    for (std::size_t pipe = 0; pipe < pipe_count; ++pipe) work[pipe] += times * static_cast<double>(one[pipe]);
    issue += times * static_cast<double>(waits.issue);
    arithmetic += times * static_cast<double>(waits.arithmetic);
    shared += times * static_cast<double>(waits.shared);
    global += times * static_cast<double>(waits.global);
  }
};

//! Of a loop's turns those that are taken several at once.
double share_at_once(const UnrolledLoop& loop, const std::vector<std::uint64_t>& visits) {
  std::uint64_t entered = 0;
  for (const std::size_t from : loop.entered_from) entered += visits[from];
  if (entered == 0 || visits[loop.first] == 0) return 0;
  const double turns = static_cast<double>(visits[loop.first]) / static_cast<double>(entered);
  return std::floor(turns / turns_at_once) * turns_at_once / turns;
}

std::uint64_t rounded(double count) { return static_cast<std::uint64_t>(std::llround(std::max(count, 0.0))); }

}  // namespace

void count_machine_code(const MachineCode& code, const std::vector<std::uint64_t>& visits, KernelCounters& counters) {
  Sums sums;
  for (std::size_t i = 0; i < code.work.size(); ++i)
    if (visits[i] > 0) sums.add(static_cast<double>(visits[i]), code.work[i], code.waits[i]);
  for (const UnrolledLoop& loop : code.loops) {
    const double share = share_at_once(loop, visits);
    for (std::size_t k = 0; share > 0 && k < loop.instructions.size(); ++k) {
      const std::size_t i = loop.instructions[k];
      const double times = share * static_cast<double>(visits[i]);
      sums.add(times, loop.work[k], loop.waits[k]);
      sums.add(-times, code.work[i], code.waits[i]);
    }
  }
  for (std::size_t pipe = 0; pipe < pipe_count; ++pipe) counters.machine_instructions[pipe] = rounded(sums.work[pipe]);
  counters.issue_clocks = rounded(sums.issue);
  counters.arithmetic_clocks = rounded(sums.arithmetic);
  counters.shared_clocks = rounded(sums.shared);
  counters.global_clocks = rounded(sums.global);
}

}  // namespace cudal1::vgpu
