// Stands in for cuda_hooks.cpp where PyTorch is a CPU build.
#include "device/ops/cuda_hooks.hpp"

namespace cudal1 {

void route_library_to(const OpRuntimeOptions&) {
  throw DeviceError(Status::unsupported, "op steps on a GPU need a PyTorch with CUDA; this one is a CPU build", true);
}

void use_library_stream(void*) {}
void keep_streams_apart(bool) {}
void vary_region(std::uint64_t) {}
void* allocate_in_region(std::size_t) { return nullptr; }
void free_in_region(void*) {}

}  // namespace cudal1
