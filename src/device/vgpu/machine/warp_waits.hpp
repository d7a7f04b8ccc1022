// What a warp waits for that has a multiprocessor to itself, instruction by instruction: read off the PTX once, and
// counted with every visit.
#pragma once

#include <vector>

#include "device/vgpu/machine/machine_work.hpp"
#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {

//! Clocks before an instruction can be issued, by what its operands come from.
struct WarpWaits {
  float issue = 0;       //!< to issue what the assembler makes of it
  float arithmetic = 0;  //!< for results of the pipes
  float shared = 0;      //!< for shared memory and other lanes
  float global = 0;      //!< for global memory, whose answers take `assumed_global_clocks`
};

// What the schedule is made with; the timing model scales the clocks to a GPU's own latencies.
inline constexpr double assumed_shared_clocks = 29, assumed_global_clocks = 300;

//! Each region (function_flow.hpp) is put into the order of region_schedule.hpp and issued in it, one instruction a
//! clock; each instruction waits for its operands. A loop begins with what the turn before it left on its way. `work`
//! is what the assembler makes of each instruction.
std::vector<WarpWaits> warp_waits(const ptx::Function& function, const FunctionFlow& flow,
                                  const std::vector<MachineWork>& work);

//! The same of the instructions of a loop without others inside, of which so many turns are put into order at once; for
//! one turn.
std::vector<WarpWaits> warp_waits_of_turns(const ptx::Function& function, const FunctionFlow& flow,
                                           const std::vector<MachineWork>& work, const std::vector<std::size_t>& loop,
                                           int at_once);

}  // namespace cudal1::vgpu
