// The sum of 16 rows of a table, picked by index, for every bag; the table in float or half.
//! define BLOCK=256 METHOD=0 WIDTH=1 UNROLL=1 TYPE=f32 SCALAR=float ITEMS=1 DEVICES=0
//! variant thread_per_column: WIDTH=1
//! variant thread_per_column_unrolled: WIDTH=1 UNROLL=16
//! variant quads: WIDTH=4
//! variant quads_unrolled: WIDTH=4 UNROLL=8
//! variant quads_shared_indices: WIDTH=4 UNROLL=4 METHOD=1
//! variant atomics: METHOD=2 ITEMS=16 DEVICES=1e-6
//! variant half_eights_unrolled: TYPE=f16 SCALAR=__half WIDTH=8 UNROLL=8
//! let bags = 16384 small 128
//! let entries = 100000 small 1000
//! input table TYPE[entries*128] random
//! input index i32[bags*16] below entries
//! buffer y f32[bags*128] zero
//! launch add_rows grid=(bags*ITEMS*128/(WIDTH*BLOCK)) block=(BLOCK) args=(table, index, y)
//! reference embedding_bag
//! check y relative DEVICES, reference relative 2e-6
#include <cuda_fp16.h>

template <class T>
struct alignas(sizeof(T) * WIDTH > 16 ? 16 : sizeof(T) * WIDTH) Pack {
  T element[WIDTH];
};

constexpr int packs = 128 / WIDTH, bags_per_block = BLOCK / packs;

__device__ __forceinline__ void sum_bag(const Pack<SCALAR>* table, const int* index, Pack<float>* y, int column) {
  Pack<float> sum{};
#pragma unroll UNROLL
  for (int i = 0; i < 16; ++i) {
    const Pack<SCALAR> row = table[index[i] * packs + column];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) sum.element[k] += float(row.element[k]);
  }
  y[column] = sum;
}

__global__ void add_rows(const Pack<SCALAR>* table, const int* index, Pack<float>* y) {
  const int place = (blockIdx.x * BLOCK + threadIdx.x) / packs, column = threadIdx.x % packs;
  if (METHOD == 0) sum_bag(table, index + place * 16, y + place * packs, column);
  if (METHOD == 1) {
    __shared__ int own[bags_per_block * 16];
    for (int i = threadIdx.x; i < bags_per_block * 16; i += BLOCK) own[i] = index[blockIdx.x * bags_per_block * 16 + i];
    __syncthreads();
    sum_bag(table, own + threadIdx.x / packs * 16, y + place * packs, column);
  }
  if (METHOD == 2)
    for (int k = 0; k < WIDTH; ++k)
      atomicAdd(&y[place / 16 * packs + column].element[k], float(table[index[place] * packs + column].element[k]));
}
