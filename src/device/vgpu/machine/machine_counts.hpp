// From how often warps came to each step to what a GPU would have issued and waited for.
#pragma once

#include <vector>

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/machine/machine_code.hpp"

namespace cudal1::vgpu {

//! Sets machine_instructions and the clocks of warps. Loops count as unrolled for as many of their turns as come in
//! whole numbers of `turns_at_once`, going by the turns that they had on average.
void count_machine_code(const MachineCode& code, const std::vector<std::uint64_t>& visits, KernelCounters& counters);

}  // namespace cudal1::vgpu
