// Convolution along a line, 5 taps from 32 channels to 32: y(image, out, i) = sum of w(out, in, t) x(image, in, i + t).
//! define BLOCK=128 OUTPUTS=1 POSITIONS=1 STAGED=0 WEIGHTS=0
//! variant naive: OUTPUTS=1
//! variant four_positions: POSITIONS=4
//! variant four_channels: OUTPUTS=4
//! variant four_by_four: OUTPUTS=4 POSITIONS=4
//! variant staged_signal: STAGED=1 OUTPUTS=4
//! variant staged_weights: WEIGHTS=1 OUTPUTS=4
//! variant staged_both_by_eight: STAGED=1 WEIGHTS=1 OUTPUTS=8 POSITIONS=2
//! let images = 32 small 1
//! let length = 4096 small 1024
//! let padded = length+4
//! input x f32[images*32*padded] random
//! input w f32[32*32*5] random
//! buffer y f32[images*32*length] poison
//! launch convolve grid=(length/(BLOCK*POSITIONS),32/OUTPUTS,images) block=(BLOCK) args=(x, w, y, i32:length)
//! reference conv1d_direct
//! check y exactly, reference relative 2e-6

constexpr int inputs = 32, taps = 5, tile = BLOCK * POSITIONS;

// The POSITIONS outputs of a thread need this many numbers of a channel.
constexpr int window = POSITIONS + taps - 1;

__device__ void read_window(float (&own)[window], const float* from) {
#pragma unroll
  for (int i = 0; i < window; ++i) own[i] = from[i];
}

__device__ void add_channel(float (&sums)[OUTPUTS][POSITIONS], const float (&own)[window], const float* w) {
#pragma unroll
  for (int out = 0; out < OUTPUTS; ++out)
#pragma unroll
    for (int t = 0; t < taps; ++t) {
      const float weight = w[out * inputs * taps + t];
#pragma unroll
      for (int i = 0; i < POSITIONS; ++i) sums[out][i] = fmaf(weight, own[i + t], sums[out][i]);
    }
}

__global__ void convolve(const float* x, const float* w, float* y, int length) {
  __shared__ float staged[STAGED ? tile + taps - 1 : 1], weights[WEIGHTS ? OUTPUTS * inputs * taps : 1];
  const int padded = length + taps - 1, begin = blockIdx.x * tile, out = blockIdx.y * OUTPUTS;
  x += blockIdx.z * inputs * padded + begin;
  w += out * inputs * taps;
  if (WEIGHTS) {
    for (int i = threadIdx.x; i < OUTPUTS * inputs * taps; i += BLOCK) weights[i] = w[i];
    __syncthreads();
  }
  float sums[OUTPUTS][POSITIONS] = {}, own[window];
  for (int in = 0; in < inputs; ++in) {
    const float* channel = x + in * padded;
    if (STAGED) {
      __syncthreads();
      for (int i = threadIdx.x; i < tile + taps - 1; i += BLOCK) staged[i] = channel[i];
      __syncthreads();
      channel = staged;
    }
    read_window(own, channel + threadIdx.x * POSITIONS);
    add_channel(sums, own, (WEIGHTS ? weights : w) + in * taps);
  }
  y += (blockIdx.z * 32 + out) * length + begin + threadIdx.x * POSITIONS;
  for (int i = 0; i < OUTPUTS; ++i)
    for (int j = 0; j < POSITIONS; ++j) y[i * length + j] = sums[i][j];
}
