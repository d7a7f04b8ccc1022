// Calls that stay calls: by value, by pointer, with a struct as result.
//! let n = 1024
//! input x f32[n] random
//! buffer y f32[n] poison
//! launch combine grid=(n/128) block=(128) args=(x, y)
//! reference functions_not_inlined
//! check y exactly

struct Pair {
  float sum, product;
};

__noinline__ __device__ Pair both(float a, float b) { return {a + b, a * b}; }
__noinline__ __device__ void add_to(float* sum, float value) { *sum += value; }
__noinline__ __device__ float chosen(const float* values, int at) { return values[at]; }

__global__ void combine(const float* x, float* y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const Pair pair = both(x[i], x[i ^ 1]);
  float sum = pair.sum;
  if (i % 3 == 0) add_to(&sum, pair.product);
  const float values[4] = {sum, pair.product, sum - 1.0f, 3.0f};
  y[i] = chosen(values, i % 4);
}
