#include "device/vgpu/machine/machine_code.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "device/vgpu/machine/assembler_savings.hpp"

namespace cudal1::vgpu {
namespace {

//! Machine instructions of a loop that is still unrolled: seen in code of NVIDIA's assembler.
constexpr double most_unrolled = 64;

using Loop = std::vector<std::size_t>;

//! Whether the assembler may take several turns of it at once: it is one region, small, and nothing in it waits for
//! other warps.
bool can_be_unrolled(const ptx::Function& function, const Loop& loop, const std::vector<MachineWork>& work) {
  static const std::set<std::string> apart{"bar", "barrier", "call", "membar", "fence", "cp", "ret", "exit"};
  if (function.rolled_loops.contains(loop.front())) return false;
  double size = 0;
  for (const std::size_t i : loop) {
    if (apart.contains(function.instructions[i].opcode)) return false;
    size += std::accumulate(work[i].begin(), work[i].end(), 0.0);
  }
  return size <= most_unrolled;
}

//! Regions that begin again at their first instruction.
std::vector<Loop> loops_of_one_region(const FunctionFlow& flow) {
  const std::vector<bool> starts = region_starts(flow);
  std::vector<Loop> loops;
  Loop region;
  for (std::size_t i = 0; i < flow.order.size(); ++i) {
    region.push_back(flow.order[i]);
    if (i + 1 < flow.order.size() && !starts[i + 1]) continue;
    if (std::ranges::find(flow.instructions[region.back()].next, region.front()) !=
        flow.instructions[region.back()].next.end())
      loops.push_back(region);
    region.clear();
  }
  return loops;
}

std::vector<std::size_t> entries(const FunctionFlow& flow, const Loop& loop) {
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < flow.instructions.size(); ++i)
    if (std::ranges::find(flow.instructions[i].next, loop.front()) != flow.instructions[i].next.end() &&
        std::ranges::find(loop, i) == loop.end())
      from.push_back(i);
  return from;
}

UnrolledLoop unrolled(const ptx::Function& function, const FunctionFlow& flow, const Loop& loop,
                      std::vector<MachineWork> work) {
  for (const std::size_t i : only_between_turns(function, flow, loop))
    for (float& count : work[i]) count /= turns_at_once;
  UnrolledLoop made{
      loop.front(), entries(flow, loop), loop, {}, warp_waits_of_turns(function, flow, work, loop, turns_at_once)};
  for (const std::size_t i : loop) made.work.push_back(work[i]);
  return made;
}

}  // namespace

MachineCode machine_code(const ptx::Function& function) {
  const FunctionFlow flow(function);
  MachineCode code;
  for (const ptx::Instruction& instruction : function.instructions) code.work.push_back(machine_work_of(instruction));
  fold_constants(function, flow, code.work);
  hoist_reciprocals(function, flow, code.work);
  code.waits = warp_waits(function, flow, code.work);
  for (const Loop& loop : loops_of_one_region(flow))
    if (can_be_unrolled(function, loop, code.work)) code.loops.push_back(unrolled(function, flow, loop, code.work));
  return code;
}

}  // namespace cudal1::vgpu
