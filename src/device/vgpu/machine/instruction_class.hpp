// What an instruction's name says about it, besides what it does.
#pragma once

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! Which part of a multiprocessor it keeps busy.
Pipe pipe_of(const ptx::Instruction& instruction);

//! Multiply-adds of one mma: its shape m16n8k16 says them. 0 for all else.
std::uint32_t tensor_products_of(const ptx::Instruction& instruction);

//! Whether it may tell another thread something: atomics, and accesses that are volatile or have an order.
bool may_signal(const ptx::Instruction& instruction);

//! Whether that thread may be in another block.
bool may_signal_other_blocks(const ptx::Instruction& instruction);

}  // namespace cudal1::vgpu
