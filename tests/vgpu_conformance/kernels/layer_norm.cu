// Layer normalisation of every row: mean and variance in two passes, in one (sums of squares), or by Welford's method.
//! define BLOCK=256 GROUP=32 METHOD=0
//! variant warp_two_passes: GROUP=32 METHOD=0
//! variant warp_one_pass: GROUP=32 METHOD=1
//! variant warp_welford: GROUP=32 METHOD=2
//! variant block_two_passes: GROUP=256 METHOD=0
//! variant block_one_pass: GROUP=256 METHOD=1
//! variant block_welford: GROUP=256 METHOD=2
//! variant block_512_one_pass: BLOCK=512 GROUP=512 METHOD=1
//! let rows = 8192 small 32
//! let columns = 1024 small 300
//! input x f32[rows*columns] between -1 3
//! input scale f32[columns] random
//! input shift f32[columns] random
//! buffer y f32[rows*columns] poison
//! launch layer_norm grid=(rows*GROUP/BLOCK) block=(BLOCK) args=(x, scale, shift, y, i32:columns)
//! reference layer_norm
//! check y exactly, reference relative 1e-5

__device__ float over_group(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  if (GROUP == 32) return value;
  __shared__ float partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) sum += partial[warp];
  __syncthreads();
  return sum;
}

struct Moments {
  float count, mean, squares;  // sum of squared distances from the mean
};

__device__ Moments joined(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float apart = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

__device__ Moments over_group(Moments own) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    own = joined(own, {__shfl_xor_sync(0xffffffffu, own.count, lanes), __shfl_xor_sync(0xffffffffu, own.mean, lanes),
                       __shfl_xor_sync(0xffffffffu, own.squares, lanes)});
  if (GROUP == 32) return own;
  __shared__ Moments partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = partial[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) own = joined(own, partial[warp]);
  return own;
}

// Mean and variance.
__device__ float2 statistics(const float* x, int columns, int first) {
  float sum = 0.0f, squares = 0.0f;
  if (METHOD == 2) {
    Moments own{0.0f, 0.0f, 0.0f};
    for (int i = first; i < columns; i += GROUP) own = joined(own, {1.0f, x[i], 0.0f});
    own = over_group(own);
    return make_float2(own.mean, own.squares / columns);
  }
  if (METHOD == 1) {
    for (int i = first; i < columns; i += GROUP) {
      sum += x[i];
      squares = fmaf(x[i], x[i], squares);
    }
    const float mean = over_group(sum) / columns;
    return make_float2(mean, over_group(squares) / columns - mean * mean);
  }
  for (int i = first; i < columns; i += GROUP) sum += x[i];
  const float mean = over_group(sum) / columns;
  for (int i = first; i < columns; i += GROUP) squares = fmaf(x[i] - mean, x[i] - mean, squares);
  return make_float2(mean, over_group(squares) / columns);
}

__global__ void layer_norm(const float* x, const float* scale, const float* shift, float* y, int columns) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP, first = threadIdx.x % GROUP;
  x += row * columns;
  y += row * columns;
  const float2 found = statistics(x, columns, first);
  const float factor = 1.0f / sqrtf(found.y + 1e-5f);
  for (int i = first; i < columns; i += GROUP) y[i] = (x[i] - found.x) * factor * scale[i] + shift[i];
}
