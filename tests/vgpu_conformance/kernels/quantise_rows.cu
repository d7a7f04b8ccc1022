// Rows to 8-bit integers and one scale each: the largest magnitude becomes 127. Dividing costs more than multiplying.
//! define BLOCK=256 WIDTH=1 DIVIDE=1
//! variant divide: DIVIDE=1
//! variant multiply: DIVIDE=0
//! variant multiply_quads: DIVIDE=0 WIDTH=4
//! variant divide_quads: DIVIDE=1 WIDTH=4
//! variant multiply_quads_64: DIVIDE=0 WIDTH=4 BLOCK=64
//! let rows = 8192 small 16
//! let columns = 2048 small 1024
//! input x f32[rows*columns] between -3 3
//! buffer q i8[rows*columns] poison
//! buffer scales f32[rows] poison
//! launch quantise grid=(rows) block=(BLOCK) args=(x, q, scales, i32:columns)
//! reference quantise_rows
//! check q exactly
//! check scales exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};
struct alignas(WIDTH) Bytes {
  signed char element[WIDTH];
};

__device__ float block_largest(float value) {
  __shared__ float partial[BLOCK / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < BLOCK / 32; ++warp) value = fmaxf(value, partial[warp]);
  return value;
}

__global__ void quantise(const float* x, signed char* q, float* scales, int columns) {
  const Pack* from = reinterpret_cast<const Pack*>(x + blockIdx.x * columns);
  Bytes* to = reinterpret_cast<Bytes*>(q + blockIdx.x * columns);
  float largest = 0.0f;
  for (int i = threadIdx.x; i < columns / WIDTH; i += BLOCK) {
    const Pack pack = from[i];
    for (int k = 0; k < WIDTH; ++k) largest = fmaxf(largest, fabsf(pack.element[k]));
  }
  const float scale = block_largest(largest) / 127.0f, inverse = 1.0f / scale;
  for (int i = threadIdx.x; i < columns / WIDTH; i += BLOCK) {
    const Pack pack = from[i];
    Bytes bytes;
    for (int k = 0; k < WIDTH; ++k)
      bytes.element[k] = __float2int_rn(DIVIDE ? pack.element[k] / scale : pack.element[k] * inverse);
    to[i] = bytes;
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
}
