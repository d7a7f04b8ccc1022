// Mean and variance of every channel by Welford's method, then the normalised values: a block per channel.
//! let channels = 8
//! let count = 2000
//! input x f32[channels*count] between 2 5
//! buffer y f32[channels*count] poison
//! buffer mean f32[channels] poison
//! buffer variance f32[channels] poison
//! launch normalise grid=(channels) block=(128) args=(x, y, mean, variance, i32:count)
//! reference batch_norm
//! check y exactly, reference relative 1e-5
//! check mean exactly, reference relative 1e-5
//! check variance exactly, reference relative 1e-5

struct Moments {
  float count, mean, squares;
};

__device__ Moments joined(Moments a, Moments b) {
  const float count = a.count + b.count, apart = b.mean - a.mean;
  if (count == 0.0f) return a;
  return {count, a.mean + apart * (b.count / count), a.squares + b.squares + apart * apart * (a.count * b.count / count)};
}

__global__ void normalise(const float* x, float* y, float* mean, float* variance, int count) {
  __shared__ Moments partial[128];
  x += blockIdx.x * count;
  y += blockIdx.x * count;
  Moments own{0.0f, 0.0f, 0.0f};
  for (int i = threadIdx.x; i < count; i += 128) {
    own.count += 1.0f;
    const float apart = x[i] - own.mean;
    own.mean += apart / own.count;
    own.squares += apart * (x[i] - own.mean);
  }
  partial[threadIdx.x] = own;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] = joined(partial[threadIdx.x], partial[threadIdx.x + step]);
    __syncthreads();
  }
  const float centre = partial[0].mean, spread = partial[0].squares / count;
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = centre;
    variance[blockIdx.x] = spread;
  }
  for (int i = threadIdx.x; i < count; i += 128) y[i] = (x[i] - centre) / sqrtf(spread + 1e-5f);
}
