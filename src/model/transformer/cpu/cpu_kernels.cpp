#include "model/transformer/cpu/cpu_kernels.hpp"

namespace cudal1 {

const CpuKernels& cpu_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return kernels_avx512::kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernels_avx2::kernels;
#endif
  return kernels_base::kernels;
}

}  // namespace cudal1
