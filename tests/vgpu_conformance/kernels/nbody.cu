// Accelerations of bodies that attract each other, positions from global memory or in tiles of shared memory.
//! define BLOCK=128 STAGED=1 UNROLL=8 FAST=1
//! variant global: STAGED=0
//! variant global_64: STAGED=0 BLOCK=64
//! variant staged: STAGED=1
//! variant staged_64: STAGED=1 BLOCK=64
//! variant staged_256_rolled: STAGED=1 BLOCK=256 UNROLL=1
//! variant staged_precise: STAGED=1 FAST=0
//! let n = 8192 small 512
//! input bodies f32[4*n] between 0.1 1
//! buffer force f32[4*n] poison
//! launch attract grid=(n/BLOCK) block=(BLOCK) args=(bodies, force, i32:n)
//! reference nbody
//! check force relative 1e-4

// Position and mass.
__device__ float4 pulled(float4 sum, float4 from, float4 other) {
  const float x = other.x - from.x, y = other.y - from.y, z = other.z - from.z;
  const float square = x * x + y * y + z * z + 0.01f;
  const float inverse = FAST ? rsqrtf(square) : 1.0f / sqrtf(square);
  const float weight = other.w * inverse * inverse * inverse;
  return make_float4(sum.x + x * weight, sum.y + y * weight, sum.z + z * weight, 0.0f);
}

__global__ void attract(const float4* bodies, float4* force, int n) {
  __shared__ float4 tile[STAGED ? BLOCK : 1];
  const int own = blockIdx.x * BLOCK + threadIdx.x;
  const float4 body = bodies[own];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int first = 0; first < n; first += BLOCK) {
    if (STAGED) {
      tile[threadIdx.x] = bodies[first + threadIdx.x];
      __syncthreads();
    }
#pragma unroll UNROLL
    for (int k = 0; k < BLOCK; ++k) sum = pulled(sum, body, STAGED ? tile[k] : bodies[first + k]);
    if (STAGED) __syncthreads();
  }
  force[own] = sum;
}
