#pragma once

#include "device/op_runtime.hpp"

namespace cudal1 {

//! Sends the library's work to our stream and its allocations to the region. Throws DeviceError where PyTorch has no
//! CUDA.
void route_library_to(const OpRuntimeOptions& options);

//! Sends the library's work to another stream (CUstream).
void use_library_stream(void* stream);

//! See RegionAllocator::keep_apart.
void keep_streams_apart(bool apart);

//! What is allocated from now on lies elsewhere in the region; see RegionAllocator::vary.
void vary_region(std::uint64_t seed);

//! Memory of the region that the library does not know about.
void* allocate_in_region(std::size_t bytes);
void free_in_region(void* address);

}  // namespace cudal1
