// Softmax of attention scores where a query sees no later key; what it does not see becomes 0.
//! define BLOCK=256 GROUP=32 METHOD=0 WIDTH=1 FAST=0 DEVICES=0
//! variant warp_reads_all: METHOD=0
//! variant warp_reads_seen: METHOD=1
//! variant warp_reads_seen_fast: METHOD=1 FAST=1 DEVICES=1e-6
//! variant warp_in_registers: METHOD=2
//! variant block_reads_all_quads: METHOD=0 GROUP=256 WIDTH=4
//! variant block_reads_seen: METHOD=1 GROUP=256
//! variant block_of_64_reads_seen: METHOD=1 BLOCK=64 GROUP=64
//! let heads = 16 small 1
//! let length = 1024 small 192
//! input x f32[heads*length*length] between -4 4
//! buffer y f32[heads*length*length] poison
//! launch softmax grid=(heads*length*GROUP/BLOCK) block=(BLOCK) args=(x, y, i32:length)
//! reference causal_softmax
//! check y relative DEVICES, reference relative 3e-6

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__device__ float exponential(float x) { return FAST ? __expf(x) : expf(x); }

template <bool largest>
__device__ float joined(float a, float b) {
  return largest ? fmaxf(a, b) : a + b;
}

template <bool largest>
__device__ float over_group(float own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) own = joined<largest>(own, __shfl_xor_sync(0xffffffffu, own, lanes));
  if (GROUP == 32) return own;
  __shared__ float partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = partial[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) own = joined<largest>(own, partial[warp]);
  __syncthreads();
  return own;
}

// Scores that must not be seen are read, and replaced.
__device__ __forceinline__ void all_keys(const Pack* x, Pack* y, int packs, int query) {
  const auto seen = [query](float score, int key) { return key <= query ? score : -INFINITY; };
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack pack = x[i];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) largest = fmaxf(largest, seen(pack.element[k], i * WIDTH + k));
  }
  largest = over_group<true>(largest);
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack pack = x[i];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) sum += exponential(seen(pack.element[k], i * WIDTH + k) - largest);
  }
  sum = over_group<false>(sum);
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    Pack pack = x[i];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k)
      pack.element[k] = exponential(seen(pack.element[k], i * WIDTH + k) - largest) / sum;
    y[i] = pack;
  }
}

__device__ __forceinline__ void seen_keys(const float* x, float* y, int length, int query) {
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x % GROUP; i <= query; i += GROUP) largest = fmaxf(largest, x[i]);
  largest = over_group<true>(largest);
  for (int i = threadIdx.x % GROUP; i <= query; i += GROUP) sum += exponential(x[i] - largest);
  sum = over_group<false>(sum);
  for (int i = threadIdx.x % GROUP; i < length; i += GROUP)
    y[i] = i <= query ? exponential(x[i] - largest) / sum : 0.0f;
}

// Up to 1024 keys, 32 of them in every lane.
__device__ __forceinline__ void in_registers(const float* x, float* y, int length, int query) {
  const int lane = threadIdx.x % 32;
  float own[32], largest = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    own[i] = i * 32 + lane <= query ? x[i * 32 + lane] : -INFINITY;
    largest = fmaxf(largest, own[i]);
  }
  largest = over_group<true>(largest);
#pragma unroll
  for (int i = 0; i < 32; ++i) sum += own[i] = exponential(own[i] - largest);
  sum = over_group<false>(sum);
#pragma unroll
  for (int i = 0; i < 32; ++i)
    if (i * 32 + lane < length) y[i * 32 + lane] = own[i] / sum;
}

__global__ void softmax(const float* x, float* y, int length) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP, query = row % length;
  x += row * length;
  y += row * length;
  if (METHOD == 0) all_keys(reinterpret_cast<const Pack*>(x), reinterpret_cast<Pack*>(y), length / WIDTH, query);
  if (METHOD == 1) seen_keys(x, y, length, query);
  if (METHOD == 2) in_registers(x, y, length, query);
}
