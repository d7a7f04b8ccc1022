// Sums of 2 RADIUS + 1 neighbours, from global memory or from a staged piece of it.
//! define RADIUS=4 STAGED=0 ITEMS=1 BLOCK=256
//! variant radius_1: RADIUS=1
//! variant radius_4: RADIUS=4
//! variant radius_16: RADIUS=16
//! variant radius_4_staged: RADIUS=4 STAGED=1
//! variant radius_16_staged: RADIUS=16 STAGED=1
//! variant radius_16_staged_4_items: RADIUS=16 STAGED=1 ITEMS=4
//! let n = 8388608 small 16384
//! input x f32[n] random
//! buffer y f32[n] poison
//! launch stencil grid=(n/(BLOCK*ITEMS)) block=(BLOCK) args=(x, y, i32:n)
//! reference stencil_1d
//! check y exactly

__device__ float at(const float* x, int i, int n) { return i < 0 || i >= n ? 0.0f : x[i]; }

__global__ void stencil(const float* x, float* y, int n) {
  constexpr int width = BLOCK * ITEMS;
  __shared__ float piece[STAGED ? width + 2 * RADIUS : 1];
  const int begin = blockIdx.x * width;
  if (STAGED) {
    for (int i = threadIdx.x; i < width + 2 * RADIUS; i += BLOCK) piece[i] = at(x, begin + i - RADIUS, n);
    __syncthreads();
  }
  for (int item = 0; item < ITEMS; ++item) {
    const int own = item * BLOCK + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; ++k) sum += STAGED ? piece[own + k + RADIUS] : at(x, begin + own + k, n);
    y[begin + own] = sum;
  }
}
