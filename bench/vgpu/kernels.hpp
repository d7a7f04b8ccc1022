// What is run: products, reductions, and kernels that do little more than move memory.
#pragma once

namespace cudal1::bench {

// Every kernel takes (a, b, c, n): two matrices of n x n floats to read, one to write.
inline constexpr const char* kernel_source = R"(
extern "C" __global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += 16) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = fmaf(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 64 x 64 results a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256) gemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][68], b_tile[16][68];
  const int row = 4 * (threadIdx.x / 16), column = 4 * (threadIdx.x % 16);
  float sum[4][4] = {};
  for (int first = 0; first < n; first += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      a_tile[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * n + first + i % 16];
      b_tile[i / 64][i % 64] = b[(first + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(a_tile[k][row + i], b_tile[k][column + j], sum[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(blockIdx.y * 64 + row + i) * n + blockIdx.x * 64 + column + j] = sum[i][j];
}

// The same with 128-bit accesses.
extern "C" __global__ void __launch_bounds__(256) gemm_vectors(const float* a, const float* b, float* c, int n) {
  __shared__ float4 a_tile[16][17], b_tile[16][16];
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int first = 0; first < n; first += 16) {
    b_tile[row][column] = reinterpret_cast<const float4*>(b + (first + row) * n + blockIdx.x * 64)[column];
    float* transposed = reinterpret_cast<float*>(a_tile);
    const float4 v = reinterpret_cast<const float4*>(a + (blockIdx.y * 64 + threadIdx.x / 4) * n + first)[threadIdx.x % 4];
    const int k0 = 4 * (threadIdx.x % 4), r = threadIdx.x / 4;
    transposed[(k0 + 0) * 68 + r] = v.x;
    transposed[(k0 + 1) * 68 + r] = v.y;
    transposed[(k0 + 2) * 68 + r] = v.z;
    transposed[(k0 + 3) * 68 + r] = v.w;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 x = a_tile[k][row], y = b_tile[k][column];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(xs[i], ys[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    reinterpret_cast<float4*>(c + (blockIdx.y * 64 + 4 * row + i) * n + blockIdx.x * 64)[column] =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// A block a row.
extern "C" __global__ void row_sum(const float* a, const float*, float* c, int n) {
  __shared__ float sums[8];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += a[blockIdx.x * n + i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
  }
}

// A warp a row, 128 bits at a time.
extern "C" __global__ void row_sum_vectors(const float* a, const float*, float* c, int n) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float4* in = reinterpret_cast<const float4*>(a + row * n);
  float sum = 0.0f;
  for (int i = lane; i < n / 4; i += 32) sum += (in[i].x + in[i].y) + (in[i].z + in[i].w);
  sum = warp_sum(sum);
  if (lane == 0) c[row] = sum;
}

// Halving in shared memory.
extern "C" __global__ void row_sum_shared(const float* a, const float*, float* c, int n) {
  __shared__ float sums[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += a[blockIdx.x * n + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = sums[0];
}

extern "C" __global__ void copy(const float* a, const float*, float* c, int) {
  const long i = blockIdx.x * 256L + threadIdx.x;
  c[i] = a[i];
}

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n * n) c[i] = a[i] + b[i];
}

extern "C" __global__ void transpose(const float* a, const float*, float* c, int n) {
  __shared__ float tile[32][33];
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = a[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) c[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
)";

}  // namespace cudal1::bench
