// What the timing model wants to know of a kernel besides its counters, read off the PTX.
#pragma once

#include <string>

#include "device/vgpu/model/load_parallelism.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! The operands of mma instructions.
enum class TensorType { f16, bf16, tf32, s8, f64 };
std::string to_string(TensorType type);

struct KernelTraits {
  std::uint32_t registers = 32;  //!< of a thread
  LoadParallelism parallelism;
  double shared_load_width = 1;  //!< words of shared memory that the assembler makes one load of: shared_widths.hpp
  TensorType tensor_type = TensorType::f16;  //!< the slowest one where it uses several; f16 where it uses none
};

KernelTraits traits_of(const ptx::Function& entry);

}  // namespace cudal1::vgpu
