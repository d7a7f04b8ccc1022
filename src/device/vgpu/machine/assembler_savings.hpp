// Instructions that NVIDIA's assembler saves where it sees more than one of them.
#pragma once

#include <vector>

#include "device/vgpu/machine/machine_work.hpp"
#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {

//! (x * 5 + 3) * 5 + 3 is one multiplication and addition: steps of such a chain vanish where nobody else wants them.
void fold_constants(const ptx::Function& function, const FunctionFlow& flow, std::vector<MachineWork>& work);

//! An integer division begins with a reciprocal of the divisor, which is taken out of loops that do not change it.
void hoist_reciprocals(const ptx::Function& function, const FunctionFlow& flow, std::vector<MachineWork>& work);

//! Instructions of a loop that several turns at once need only once: counters and addresses that a turn moves on by a
//! number, the comparison at the end and the branch back.
std::vector<std::size_t> only_between_turns(const ptx::Function& function, const FunctionFlow& flow,
                                            const std::vector<std::size_t>& loop);

}  // namespace cudal1::vgpu
