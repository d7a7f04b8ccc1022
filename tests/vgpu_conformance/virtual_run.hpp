// A case on the virtual GPU.
#pragma once

#include "buffers.hpp"
#include "compiled_case.hpp"

namespace cudal1::conformance {

//! Runs all launches; the memory holds the results then. Throws PtxError for what the virtual GPU does not know,
//! before anything has run, and KernelFault.
void run_virtually(const Case& given, const CompiledCase& compiled, Memory& memory);

}  // namespace cudal1::conformance
