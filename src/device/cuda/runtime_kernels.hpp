// Kernels of our own that run around a program's: compiled once a GPU, loaded when a runner starts.
#pragma once

namespace cudal1::cuda {

//! Shared memory keeps its content from one launch to the next, so a kernel could remember there. This one overwrites
//! all of it before every call.
inline constexpr const char* scrub_kernel_name = "cudal1_scrub_shared_memory";

//! Keeps the device waiting until the host has enqueued a whole call; see StartGate.
inline constexpr const char* gate_kernel_name = "cudal1_wait_at_gate";

inline constexpr const char* runtime_kernels_source = R"cuda(
extern "C" __global__ void cudal1_scrub_shared_memory(int bytes) {
  extern __shared__ volatile unsigned words[];
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) words[i] = 0xffffffffu;
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

extern "C" __global__ void cudal1_wait_at_gate(const volatile unsigned* opened, unsigned ticket,
                                               unsigned long long longest_wait) {
  const unsigned long long begin = nanoseconds();
  while (*opened != ticket && nanoseconds() - begin < longest_wait) {
  }
}
)cuda";

}  // namespace cudal1::cuda
