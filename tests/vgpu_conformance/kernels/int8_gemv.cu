// y = (q * scale) x with weights of 8 bits, a scale for every 64 of them: by how many are read at once, and by whom.
//! define BLOCK=256 BYTES=4 GROUP=32 ROWS=1 STAGED=0 EARLY=0
//! variant bytes: BYTES=1
//! variant words: BYTES=4
//! variant sixteens: BYTES=16
//! variant sixteens_scaled_early: BYTES=16 EARLY=1
//! variant sixteens_two_rows: BYTES=16 ROWS=2
//! variant sixteens_staged_vector: BYTES=16 STAGED=1
//! variant block_per_row_sixteens: BYTES=16 GROUP=256
//! let rows = 8192 small 64
//! let columns = 8192 small 1024
//! input q i8[rows*columns] random
//! input scale f32[rows*columns/64] random
//! input x f32[columns] random
//! buffer y f32[rows] poison
//! launch multiply grid=(rows*GROUP/(BLOCK*ROWS)) block=(BLOCK) shared=STAGED*columns*4 args=(q, scale, x, y, i32:columns)
//! reference int8_gemv
//! check y exactly, reference relative 1e-5

// A weight alone or four in a word; the scale multiplies each, or later their sum.
__device__ float dot(float q, float x, float scale, float sum) { return fmaf(EARLY ? q * scale : q, x, sum); }
__device__ float byte_of(unsigned word, int k) { return static_cast<signed char>(word >> (8 * k)); }
__device__ float dot(unsigned word, float4 x, float scale, float sum) {
  sum = dot(byte_of(word, 0), x.x, scale, sum);
  sum = dot(byte_of(word, 1), x.y, scale, sum);
  sum = dot(byte_of(word, 2), x.z, scale, sum);
  return dot(byte_of(word, 3), x.w, scale, sum);
}

// BYTES weights, which share a scale.
__device__ float scaled_dot(const signed char* q, float scale, const float* x) {
  const float4* quads = reinterpret_cast<const float4*>(x);
  float sum = 0.0f;
  if (BYTES == 1) sum = dot(*q, *x, scale, sum);
  if (BYTES == 4) sum = dot(__ldg(reinterpret_cast<const unsigned*>(q)), quads[0], scale, sum);
  if (BYTES == 16) {
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(q));
    sum = dot(words.x, quads[0], scale, sum);
    sum = dot(words.y, quads[1], scale, sum);
    sum = dot(words.z, quads[2], scale, sum);
    sum = dot(words.w, quads[3], scale, sum);
  }
  return EARLY ? sum : sum * scale;
}

__device__ float over_group(float own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_xor_sync(0xffffffffu, own, lanes);
  if (GROUP == 32) return own;
  __shared__ float partial[BLOCK / 32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  own = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) own += partial[warp];
  return own;
}

__global__ void multiply(const signed char* q, const float* scale, const float* x, float* y, int columns) {
  extern __shared__ __align__(16) float vector[];
  if (STAGED) {
    for (int i = threadIdx.x; i < columns; i += BLOCK) vector[i] = x[i];
    __syncthreads();
    x = vector;
  }
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / GROUP * ROWS;
  float sums[ROWS] = {};
  for (int i = threadIdx.x % GROUP * BYTES; i < columns; i += GROUP * BYTES)
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      const long long at = static_cast<long long>(row + k) * columns + i;
      sums[k] += scaled_dot(q + at, scale[at / 64], x + i);
    }
  for (int k = 0; k < ROWS; ++k) {
    const float sum = over_group(sums[k]);
    if (threadIdx.x % GROUP == 0) y[row + k] = sum;
  }
}
