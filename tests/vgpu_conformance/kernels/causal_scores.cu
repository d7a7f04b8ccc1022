// Scores of queries and earlier keys, q k^T / 8 over 64 columns; later keys get minus infinity.
//! define METHOD=0 TILE=16 SIZE=1 SKIP=1
//! variant naive: METHOD=0
//! variant naive_computes_all: METHOD=0 SKIP=0
//! variant staged_16: METHOD=1
//! variant staged_32: METHOD=1 TILE=32
//! variant staged_64_by_four: METHOD=1 TILE=16 SIZE=4
//! variant staged_64_by_four_computes_all: METHOD=1 TILE=16 SIZE=4 SKIP=0
//! let heads = 4 small 1
//! let length = 1024 small 128
//! input q f32[heads*length*64] random
//! input k f32[heads*length*64] random
//! buffer y f32[heads*length*length] poison
//! launch scores grid=(length/(TILE*SIZE),length/(TILE*SIZE),heads) block=(TILE,TILE) args=(q, k, y, i32:length)
//! reference causal_scores
//! check y exactly, reference relative 2e-6

constexpr int columns = 64, depth = 16, edge = TILE * SIZE;

__device__ float naive(const float* q, const float* k) {
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) sum = fmaf(q[i], k[i], sum);
  return sum;
}

// Both sides by 16 columns at a time; a thread's rows and columns lie TILE apart.
__device__ __forceinline__ void staged(float (&sums)[SIZE][SIZE], const float* q, const float* k) {
  __shared__ float left[depth][edge + 1], right[depth][edge + 1];
  for (int begin = 0; begin < columns; begin += depth) {
    for (int i = threadIdx.y * TILE + threadIdx.x; i < edge * depth; i += TILE * TILE) {
      left[i % depth][i / depth] = q[i / depth * columns + begin + i % depth];
      right[i % depth][i / depth] = k[i / depth * columns + begin + i % depth];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < depth; ++step)
#pragma unroll
      for (int i = 0; i < SIZE; ++i)
#pragma unroll
        for (int j = 0; j < SIZE; ++j)
          sums[i][j] =
              fmaf(left[step][threadIdx.y + i * TILE], right[step][threadIdx.x + j * TILE], sums[i][j]);
    __syncthreads();
  }
}

__global__ void scores(const float* q, const float* k, float* y, int length) {
  q += (blockIdx.z * length + blockIdx.y * edge) * columns;
  k += (blockIdx.z * length + blockIdx.x * edge) * columns;
  const bool all_later = blockIdx.x > blockIdx.y;
  float sums[SIZE][SIZE] = {};
  if (METHOD == 0 && (!SKIP || blockIdx.x * TILE + threadIdx.x <= blockIdx.y * TILE + threadIdx.y))
    sums[0][0] = naive(q + threadIdx.y * columns, k + threadIdx.x * columns);
  if (METHOD == 1 && !(SKIP && all_later)) staged(sums, q, k);
#pragma unroll
  for (int i = 0; i < SIZE; ++i)
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {
      const int query = blockIdx.y * edge + threadIdx.y + i * TILE, key = blockIdx.x * edge + threadIdx.x + j * TILE;
      y[(blockIdx.z * length + query) * length + key] = key <= query ? sums[i][j] * 0.125f : -INFINITY;
    }
}
