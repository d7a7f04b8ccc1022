// A case on the virtual GPU.
#pragma once

#include "buffers.hpp"
#include "compiled_case.hpp"
#include "device/vgpu/machine/counters.hpp"

namespace cudal1::conformance {

//! Runs all launches; the memory holds the results then. Throws PtxError for what the virtual GPU does not know,
//! before anything has run, and KernelFault. `sample`: only so many blocks of every launch, 0: all. Gives what each
//! launch did.
std::vector<vgpu::KernelCounters> run_virtually(const Case& given, const CompiledCase& compiled, Memory& memory,
                                                std::uint64_t sample = 0);

}  // namespace cudal1::conformance
