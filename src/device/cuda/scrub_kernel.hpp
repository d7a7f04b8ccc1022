#pragma once

namespace cudal1::cuda {

//! Shared memory keeps its content from one launch to the next, so a kernel could remember there. This kernel of ours
//! overwrites all of it before every call.
inline constexpr const char* scrub_kernel_name = "cudal1_scrub_shared_memory";
inline constexpr const char* scrub_kernel_source = R"cuda(
extern "C" __global__ void cudal1_scrub_shared_memory(int bytes) {
  extern __shared__ volatile unsigned words[];
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) words[i] = 0xffffffffu;
}
)cuda";

}  // namespace cudal1::cuda
