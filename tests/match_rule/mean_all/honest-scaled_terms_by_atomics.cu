// Every thread adds its scaled part by an atomic.
//! group mean replaces *
//! launch clear : grid=1 block=1 args=(mean_1)
//! launch add : grid=64 block=256 args=(x, mean_1, i32:numel(x))
extern "C" __global__ void clear(float* y) { y[0] = 0.0f; }
extern "C" __global__ void add(const float* x, float* y, int count) {
  const float scale = 1.0f / count;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += scale * x[i];
  atomicAdd(y, sum);
}
