// SiLU and GELU of every element, precise or fast, by type and width.
//! define ERROR=1e-6 ULPS=0 TYPE=f32 WIDTH=1 FUNCTION=silu
//! variant silu: FUNCTION=silu
//! variant silu_quads: FUNCTION=silu WIDTH=4
//! variant silu_fast: FUNCTION=silu_fast ULPS=16
//! variant gelu: FUNCTION=gelu
//! variant gelu_quads: FUNCTION=gelu WIDTH=4
//! variant gelu_tanh: FUNCTION=gelu_tanh
//! variant half_gelu: ERROR=1e-3 TYPE=f16 FUNCTION=gelu
//! variant half_gelu_eights: ERROR=1e-3 TYPE=f16 WIDTH=8 FUNCTION=gelu
//! let n = 16777216 small 16384
//! input x TYPE[n] between -5 5
//! buffer y TYPE[n] poison
//! launch activate grid=(n/(256*WIDTH)) block=(256) args=(x, y)
//! reference FUNCTION
//! check y within ULPS ulp, reference relative ERROR
#include <cuda_fp16.h>

using f32 = float;
using f16 = __half;

__device__ float silu(float x) { return x / (1.0f + expf(-x)); }
__device__ float silu_fast(float x) { return __fdividef(x, 1.0f + __expf(-x)); }
__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
__device__ float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

struct alignas(sizeof(TYPE) * WIDTH) Pack {
  TYPE element[WIDTH];
};

__global__ void activate(const Pack* x, Pack* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  Pack pack = x[i];
  for (int k = 0; k < WIDTH; ++k)
    pack.element[k] = static_cast<TYPE>(FUNCTION(static_cast<float>(pack.element[k])));
  y[i] = pack;
}
