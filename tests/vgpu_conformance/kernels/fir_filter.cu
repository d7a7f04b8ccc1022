// A filter of 32 taps along a signal: where the taps are, where the signal is, and how many results a thread has.
//! define METHOD=0 OUTPUTS=1 STAGED=0 ROTATED=0
//! variant constant_taps: METHOD=0
//! variant constant_taps_rotated_by_lane: METHOD=0 ROTATED=1
//! variant literal_taps: METHOD=1
//! variant shared_taps: METHOD=2
//! variant global_taps: METHOD=3
//! variant constant_taps_staged_signal: METHOD=0 STAGED=1
//! variant constant_taps_four_results: METHOD=0 OUTPUTS=4
//! let n = 8388608 small 32768
//! input x f32[n+32] random
//! input taps f32[32] random
//! buffer y f32[n] poison
//! launch filter grid=(n/(256*OUTPUTS)) block=(256) args=(x, taps, y)
//! reference fir_filter
//! check y exactly, reference relative 2e-6

constexpr float tap_value(int k) { return ((k * k * 5 + k) % 29 - 14) / 16.0f; }

#define FOUR(k) tap_value(k), tap_value(k + 1), tap_value(k + 2), tap_value(k + 3)
__constant__ float constant_taps[32] = {FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)};

__device__ float tap(const float* taps, int k) {
  if (METHOD == 0) return constant_taps[k];
  if (METHOD == 1) return tap_value(k);  // k is known: the loop is unrolled
  return taps[k];
}

// Each number of the signal is read once for all results that need it.
__device__ void add_all(float (&sums)[OUTPUTS], const float* x, const float* taps) {
  float window[OUTPUTS];
  for (int i = 0; i + 1 < OUTPUTS; ++i) window[i + 1] = x[i];
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    for (int i = 0; i + 1 < OUTPUTS; ++i) window[i] = window[i + 1];
    window[OUTPUTS - 1] = x[k + OUTPUTS - 1];
    for (int i = 0; i < OUTPUTS; ++i) sums[i] = fmaf(tap(taps, k), window[i], sums[i]);
  }
}

// Lanes begin at different taps.
__device__ float add_rotated(const float* x, const float* taps) {
  float sum = 0.0f;
  for (int i = 0; i < 32; ++i) {
    const int k = (i + threadIdx.x) % 32;
    sum = fmaf(tap(taps, k), x[k], sum);
  }
  return sum;
}

__global__ void filter(const float* x, const float* taps, float* y) {
  __shared__ float shared_taps[32], signal[STAGED ? 256 + 32 : 1];
  const int first = blockIdx.x * 256 * OUTPUTS;
  if (METHOD == 2 && threadIdx.x < 32) shared_taps[threadIdx.x] = taps[threadIdx.x];
  if (STAGED)
    for (int i = threadIdx.x; i < 256 + 32; i += 256) signal[i] = x[first + i];
  __syncthreads();
  const float* from = (STAGED ? signal : x + first) + threadIdx.x * OUTPUTS;
  const float* own_taps = METHOD == 2 ? shared_taps : taps;
  float sums[OUTPUTS] = {};
  if (ROTATED)
    sums[0] = add_rotated(from, own_taps);
  else
    add_all(sums, from, own_taps);
  for (int i = 0; i < OUTPUTS; ++i) y[first + threadIdx.x * OUTPUTS + i] = sums[i];
}
