// Every group of channels gets mean 0 and variance 1, every channel a scale and a shift: by passes and by who works.
//! define BLOCK=256 WIDTH=1 GROUP=256 METHOD=1 DEVICES=0
//! variant three_passes: METHOD=0
//! variant moments: METHOD=1
//! variant moments_quads: METHOD=1 WIDTH=4
//! variant moments_quads_1024: METHOD=1 WIDTH=4 BLOCK=1024 GROUP=1024
//! variant running_mean: METHOD=2
//! variant kept_in_shared: METHOD=3 WIDTH=4
//! variant warp_per_group_quads: METHOD=1 WIDTH=4 GROUP=32
//! let groups = 2048 small 64
//! let pixels = 1024 small 128
//! let channels_each = 8
//! let count = channels_each*pixels
//! let groups_each = 32
//! let channels = channels_each*groups_each
//! input x f32[groups*count] between -1 3
//! input scale f32[channels] random
//! input shift f32[channels] random
//! buffer y f32[groups*count] poison
//! launch group_norm grid=(groups*GROUP/BLOCK) block=(BLOCK) shared=METHOD/3*count*4 args=(x, scale, shift, y, i32:pixels, i32:channels_each, i32:groups_each)
//! reference group_norm
//! check y exactly, reference relative 1e-5

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

// How many, their mean, and the sum of squared distances from it.
struct Running {
  float count, mean, squares;
};

__device__ Running joined(Running a, Running b) {
  const float count = a.count + b.count, apart = b.mean - a.mean, share = count > 0.0f ? b.count / count : 0.0f;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

__device__ float joined(float a, float b) { return a + b; }

__device__ float shuffled(float value, int lanes) { return __shfl_xor_sync(0xffffffffu, value, lanes); }
__device__ Running shuffled(Running own, int lanes) {
  return {shuffled(own.count, lanes), shuffled(own.mean, lanes), shuffled(own.squares, lanes)};
}

template <class T>
__device__ T over_group(T own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) own = joined(own, shuffled(own, lanes));
  if (GROUP == 32) return own;
  __shared__ T partial[32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = partial[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) own = joined(own, partial[warp]);
  __syncthreads();
  return own;
}

template <class Function>
__device__ void each(const Pack* x, int packs, Function function) {
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const Pack pack = x[i];
    for (int k = 0; k < WIDTH; ++k) function(pack.element[k]);
  }
}

__device__ void statistics(const Pack* x, int packs, float& mean, float& variance) {
  const float count = packs * WIDTH;
  float sum = 0.0f, squares = 0.0f;
  if (METHOD == 1) {
    each(x, packs, [&](float value) { sum += value, squares += value * value; });
    mean = over_group(sum) / count;
    variance = over_group(squares) / count - mean * mean;
  } else if (METHOD == 2) {
    Running own{};
    each(x, packs, [&](float value) {
      own.count += 1.0f;
      const float apart = value - own.mean;
      own.mean += apart / own.count;
      own.squares += apart * (value - own.mean);
    });
    own = over_group(own);
    mean = own.mean;
    variance = own.squares / count;
  } else {
    each(x, packs, [&](float value) { sum += value; });
    mean = over_group(sum) / count;
    each(x, packs, [&](float value) { squares += (value - mean) * (value - mean); });
    variance = over_group(squares) / count;
  }
}

__global__ void __launch_bounds__(BLOCK) group_norm(const Pack* x, const float* scale, const float* shift, Pack* y,
                                                    int pixels, int channels_each, int groups_each) {
  extern __shared__ __align__(16) unsigned char kept_bytes[];
  const int packs = pixels / WIDTH * channels_each, group = (blockIdx.x * BLOCK + threadIdx.x) / GROUP;
  x += group * packs;
  y += group * packs;
  if (METHOD == 3) {
    float4* kept = reinterpret_cast<float4*>(kept_bytes);
    for (int i = threadIdx.x; i < packs; i += BLOCK) kept[i] = __ldg(reinterpret_cast<const float4*>(x) + i);
    x = reinterpret_cast<const Pack*>(kept_bytes);  // a thread reads only what it wrote itself
  }
  float mean, variance;
  statistics(x, packs, mean, variance);
  const float factor = 1.0f / sqrtf(variance + 1e-5f);
  for (int i = threadIdx.x % GROUP; i < packs; i += GROUP) {
    const int channel = group % groups_each * channels_each + i * WIDTH / pixels;
    Pack pack = x[i];
    for (int k = 0; k < WIDTH; ++k)
      pack.element[k] = (pack.element[k] - mean) * factor * scale[channel] + shift[channel];
    y[i] = pack;
  }
}
