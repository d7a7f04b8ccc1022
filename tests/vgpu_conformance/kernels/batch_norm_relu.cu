// Batch normalisation with known statistics, then max(0, y): channels apart (NCHW) or last (NHWC).
//! define BLOCK=256 WIDTH=1 LAST=0 PLANE=0 FLAT=0 LOOP=0
//! variant flat: FLAT=1
//! variant flat_quads: FLAT=1 WIDTH=4
//! variant plane_per_block: PLANE=1
//! variant plane_per_block_quads: PLANE=1 WIDTH=4
//! variant last: LAST=1
//! variant last_quads: LAST=1 WIDTH=4
//! variant last_loop: LAST=1 LOOP=1
//! let images = 32 small 2
//! let channels = 128 small 32
//! let pixels = 4096 small 256
//! let blocks = images*channels*pixels/(BLOCK*WIDTH)
//! input x f32[images*channels*pixels] between -2 2
//! input mean f32[channels] random
//! input variance f32[channels] between 0.5 2
//! input scale f32[channels] random
//! input shift f32[channels] random
//! buffer y f32[images*channels*pixels] poison
//! launch flat grid=(blocks) block=(BLOCK) args=(x, mean, variance, scale, shift, y, i32:channels, i32:pixels) when=FLAT
//! launch plane_per_block grid=(images*channels) block=(BLOCK) args=(x, mean, variance, scale, shift, y, i32:channels, i32:pixels) when=PLANE
//! launch channels_last grid=(blocks) block=(BLOCK) args=(x, mean, variance, scale, shift, y, i32:channels) when=LAST*(1-LOOP)
//! launch channels_last_loop grid=(blocks/16) block=(channels,BLOCK/channels) args=(x, mean, variance, scale, shift, y, i32:16) when=LAST*LOOP
//! reference batch_norm_relu
//! check y exactly, reference relative 3e-6

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__device__ float normalised(float x, float mean, float variance, float scale, float shift) {
  return fmaxf(0.0f, (x - mean) / sqrtf(variance + 1e-5f) * scale + shift);
}

__global__ void flat(const Pack* x, const float* mean, const float* variance, const float* scale, const float* shift,
                     Pack* y, int channels, int pixels) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, c = i * WIDTH / pixels % channels;
  Pack pack = x[i];
  for (int k = 0; k < WIDTH; ++k)
    pack.element[k] = normalised(pack.element[k], mean[c], variance[c], scale[c], shift[c]);
  y[i] = pack;
}

// Four numbers a channel become two.
__global__ void plane_per_block(const Pack* x, const float* mean, const float* variance, const float* scale,
                                const float* shift, Pack* y, int channels, int pixels) {
  const int c = blockIdx.x % channels, packs = pixels / WIDTH;
  const float factor = scale[c] / sqrtf(variance[c] + 1e-5f), offset = shift[c] - mean[c] * factor;
  for (int i = blockIdx.x * packs + threadIdx.x; i < (blockIdx.x + 1) * packs; i += BLOCK) {
    Pack pack = x[i];
    for (int k = 0; k < WIDTH; ++k) pack.element[k] = fmaxf(0.0f, fmaf(pack.element[k], factor, offset));
    y[i] = pack;
  }
}

__global__ void channels_last(const Pack* x, const Pack* mean, const Pack* variance, const Pack* scale,
                              const Pack* shift, Pack* y, int channels) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, c = i % (channels / WIDTH);
  Pack pack = x[i];
  const Pack m = mean[c], v = variance[c], factor = scale[c], offset = shift[c];
  for (int k = 0; k < WIDTH; ++k)
    pack.element[k] = normalised(pack.element[k], m.element[k], v.element[k], factor.element[k], offset.element[k]);
  y[i] = pack;
}

// A thread stays with its channel.
__global__ void channels_last_loop(const float* x, const float* mean, const float* variance, const float* scale,
                                   const float* shift, float* y, int rounds) {
  const int c = threadIdx.x;
  const float factor = scale[c] / sqrtf(variance[c] + 1e-5f), offset = shift[c] - mean[c] * factor;
  int i = (blockIdx.x * rounds * blockDim.y + threadIdx.y) * blockDim.x + c;
  for (int round = 0; round < rounds; ++round, i += BLOCK) y[i] = fmaxf(0.0f, fmaf(x[i], factor, offset));
}
