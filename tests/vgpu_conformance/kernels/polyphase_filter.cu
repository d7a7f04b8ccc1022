// A signal made four times as long by a filter of 64 taps: each result uses the 16 taps of its phase, i % 4.
//! define BLOCK=256 METHOD=0 RESULTS=1
//! variant constant_by_lane: METHOD=0
//! variant constant_phase_per_warp: METHOD=1
//! variant constant_phase_per_block: METHOD=2
//! variant constant_four_phases: METHOD=3 RESULTS=4
//! variant shared_by_lane: METHOD=4
//! variant global_by_lane: METHOD=5
//! let n = 4194304 small 16384
//! input x f32[n/4+16] random
//! input taps f32[64] random
//! buffer y f32[n] poison
//! launch filter grid=(n/(BLOCK*RESULTS)) block=(BLOCK) args=(x, taps, y)
//! reference polyphase_filter
//! check y exactly, reference relative 2e-6

constexpr float tap_value(int k) { return ((k * k * 3 + k) % 31 - 15) / 16.0f; }

#define FOUR(k) tap_value(k), tap_value(k + 1), tap_value(k + 2), tap_value(k + 3)
#define SIXTEEN(k) FOUR(k), FOUR(k + 4), FOUR(k + 8), FOUR(k + 12)
__constant__ float constant_taps[64] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};

__device__ float phase_sum(const float* x, const float* taps, int phase) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum = fmaf(METHOD < 4 ? constant_taps[k * 4 + phase] : taps[k * 4 + phase], x[k], sum);
  return sum;
}

// Which result a thread has, so that phases differ by lane, by warp or by block.
__device__ int result_of(int thread, int block) {
  if (METHOD == 1) return block * BLOCK + thread % 32 * 4 + thread / 32 % 4 + thread / 128 * 128;
  if (METHOD == 2) return block / 4 * BLOCK * 4 + thread * 4 + block % 4;
  return block * BLOCK + thread;
}

__global__ void filter(const float* x, const float* taps, float* y) {
  __shared__ float shared_taps[64];
  if (METHOD == 4) {
    if (threadIdx.x < 64) shared_taps[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    taps = shared_taps;
  }
  if (METHOD == 3) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    reinterpret_cast<float4*>(y)[i] = {phase_sum(x + i, taps, 0), phase_sum(x + i, taps, 1), phase_sum(x + i, taps, 2),
                                       phase_sum(x + i, taps, 3)};
    return;
  }
  const int i = result_of(threadIdx.x, blockIdx.x);
  y[i] = phase_sum(x + i / 4, taps, i % 4);
}
