// A case on the virtual GPU.
#pragma once

#include "buffers.hpp"
#include "compiled_case.hpp"
#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/model/kernel_shape.hpp"

namespace cudal1::conformance {

//! Runs all launches; the memory holds the results then. Throws PtxError for what the virtual GPU does not know,
//! before anything has run, and KernelFault. `sample`: only so many blocks of every launch, 0: all. `checked`: the
//! sanitiser looks on, and what it finds is a KernelFault. Gives what each launch did.
std::vector<vgpu::KernelCounters> run_virtually(const Case& given, const CompiledCase& compiled, Memory& memory,
                                                std::uint64_t sample = 0, bool checked = false);

//! How a launch looks to the timing model. Throws PtxError.
vgpu::KernelShape shape_of(const Case& given, const CompiledCase& compiled, const LaunchSpec& launch);

}  // namespace cudal1::conformance
