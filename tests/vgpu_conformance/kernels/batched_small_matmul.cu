// Many products of 16 x 16 matrices: who has which elements, and from where; the last on tensor cores in TF32.
//! define MATRICES=1 METHOD=0 THREADS=256 DEVICES=0 APART=2e-6
//! variant thread_per_element: METHOD=0
//! variant thread_per_element_staged: METHOD=1
//! variant thread_per_element_staged_4_matrices: METHOD=1 MATRICES=4 THREADS=1024
//! variant thread_per_row: METHOD=2 MATRICES=8 THREADS=128
//! variant thread_per_row_staged: METHOD=3 MATRICES=8 THREADS=128
//! variant warp_by_shuffles: METHOD=4 MATRICES=4 THREADS=128
//! variant warp_tensor_cores: METHOD=5 MATRICES=4 THREADS=128 DEVICES=2e-6 APART=2e-3
//! let batch = 32768 small 64
//! input a f32[batch*256] random
//! input b f32[batch*256] random
//! buffer c f32[batch*256] poison
//! launch multiply grid=(batch/MATRICES) block=(THREADS) args=(a, b, c)
//! reference batched_small_matmul
//! check c relative DEVICES, reference relative APART
#include <mma.h>

__device__ float dot(const float* row, const float* column) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum = fmaf(row[k], column[k * 16], sum);
  return sum;
}

// A row of the product in registers, from rows of the right matrix.
__device__ void whole_row(const float* row, const float* b, float* c) {
  float sums[16] = {};
  for (int k = 0; k < 16; ++k) {
    const float own = row[k];
#pragma unroll
    for (int j = 0; j < 16; ++j) sums[j] = fmaf(own, b[k * 16 + j], sums[j]);
  }
  for (int j = 0; j < 16; ++j) c[j] = sums[j];
}

// Lane: column lane % 16 and every other row from lane / 16 on; both matrices lie in the warp's registers.
__device__ void by_shuffles(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x % 32;
  float left[8], right[8], sums[8] = {};
  for (int i = 0; i < 8; ++i) left[i] = a[i * 32 + lane], right[i] = b[i * 32 + lane];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float below = __shfl_sync(0xffffffffu, right[k / 2], k % 2 * 16 + lane % 16);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      sums[i] = fmaf(__shfl_sync(0xffffffffu, left[i], lane / 16 * 16 + k), below, sums[i]);
  }
  for (int i = 0; i < 8; ++i) c[i * 32 + lane] = sums[i];
}

__device__ void by_tensor_cores(const float* a, const float* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> left;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> right;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < 16; k += 8) {
    load_matrix_sync(left, a + k, 16);
    load_matrix_sync(right, b + k * 16, 16);
    for (int i = 0; i < left.num_elements; ++i) left.x[i] = __float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; ++i) right.x[i] = __float_to_tf32(right.x[i]);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c, sum, 16, mem_row_major);
}

__global__ void multiply(const float* a, const float* b, float* c) {
  constexpr bool staging = METHOD == 1 || METHOD == 3;
  __shared__ float left[staging ? MATRICES * 256 : 1], right[staging ? MATRICES * 256 : 1];
  const int first = blockIdx.x * MATRICES * 256, threads_each = THREADS / MATRICES;
  const int matrix = threadIdx.x / threads_each * 256, thread = threadIdx.x % threads_each;
  a += first;
  b += first;
  c += first + matrix;
  if (staging) {
    for (int i = threadIdx.x; i < MATRICES * 256; i += THREADS) left[i] = a[i], right[i] = b[i];
    __syncthreads();
  }
  const float *from = (staging ? left : a) + matrix, *with = (staging ? right : b) + matrix;
  if (METHOD <= 1) c[thread] = dot(from + thread / 16 * 16, with + thread % 16);
  if (METHOD == 2 || METHOD == 3) whole_row(from + thread * 16, with, c + thread * 16);
  if (METHOD == 4) by_shuffles(from, with, c);
  if (METHOD == 5) by_tensor_cores(from, with, c);
}
