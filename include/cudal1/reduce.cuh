// Reductions and scans over a warp or a block, with any operation.
//
//   __global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, int columns) {  // 256 threads a
//   row
//     const float* row = x + static_cast<long long>(blockIdx.x) * columns;
//     float sum = 0.0f;
//     for (int i = threadIdx.x; i < columns; i += 256) sum += row[i];
//     sum = cudal1::block_reduce<cudal1::Sum<float>, 256>(sum);  // every thread gets it
//     if (threadIdx.x == 0) sums[blockIdx.x] = sum;
//   }
//
// Operations: Sum, Product, Max, Min, Any, All, ArgMax, ArgMin, Welford (mean and variance), LogSumExp (softmax). One
// of your own is a type like these:
//
//   struct SumAndMax {
//     struct Value { float sum, max; };  // whatever can be copied byte by byte
//     static __device__ Value identity() { return {0.0f, cudal1::lowest<float>()}; }
//     static __device__ Value combine(Value a, Value b) { return {a.sum + b.sum, cudal1::maximum(a.max, b.max)}; }
//   };
//
// Blocks are one-dimensional, a multiple of 32 threads. All lanes of a warp (threads of a block) must come to a call,
// also those that have nothing to add: they bring identity(). Block functions have two barriers in them, so they may
// follow each other, and what was in shared memory before is visible after; each kind has at most 512 bytes of it.
#pragma once

#include <cudal1/math.cuh>
#include <cudal1/operations.cuh>
#include <cudal1/shuffle.cuh>

namespace cudal1 {

//! What all values of a warp give, in every lane; with fewer lanes (16, 8, 4, 2), of each such group by itself.
template <class Operation, int lanes = 32>
CUDAL1_INLINE typename Operation::Value warp_reduce(typename Operation::Value value) {
  static_assert(lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0, "lanes: 1, 2, 4, 8, 16 or 32");
#pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2) value = Operation::combine(value, shuffle_xor(value, offset));
  // combine(a, b) may round otherwise than combine(b, a); of numbers it does not
  if constexpr (is_structure<typename Operation::Value>) value = shuffle(value, lane() & ~(lanes - 1));
  return value;
}

//! One value of each warp, known to all threads afterwards: `values[w]` is that of warp w.
template <class Value, int warps>
CUDAL1_INLINE const Value* exchange_between_warps(Value value, bool is_the_one) {
  __shared__ Value values[warps];
  __syncthreads();  // an earlier call may still be read
  if (is_the_one) values[threadIdx.x / 32] = value;
  __syncthreads();
  return values;
}

//! The power of two that is at least `count`.
template <int count>
constexpr int lanes_for = 2 * lanes_for<(count + 1) / 2>;
template <>
constexpr int lanes_for<1> = 1;

//! What all values of a block give, in every thread.
template <class Operation, int threads>
CUDAL1_INLINE typename Operation::Value block_reduce(typename Operation::Value value) {
  static_assert(threads % 32 == 0 && threads >= 32 && threads <= 1024, "threads: a multiple of 32, up to 1024");
  constexpr int warps = threads / 32, lanes = lanes_for<warps>;
  value = warp_reduce<Operation>(value);
  if constexpr (warps == 1) return value;
  const auto* values = exchange_between_warps<typename Operation::Value, warps>(value, lane() == 0);
  const int from = lane() & (lanes - 1);
  return warp_reduce<Operation, lanes>(from < warps ? values[from] : Operation::identity());
}

//! The same for blocks in which `rows` neighbouring threads have a row each: thread t brings a value of row t % rows,
//! `ways` threads share a row, and each of them gets what these give.
template <class Operation, int rows, int ways>
CUDAL1_INLINE typename Operation::Value block_reduce_across(typename Operation::Value value) {
  using Value = typename Operation::Value;
  __shared__ Value values[ways][rows];
  __syncthreads();  // an earlier call may still be read
  values[threadIdx.x / rows][threadIdx.x % rows] = value;
  __syncthreads();
  value = values[0][threadIdx.x % rows];
#pragma unroll
  for (int way = 1; way < ways; ++way) value = Operation::combine(value, values[way][threadIdx.x % rows]);
  return value;
}

//! Lane i gets the values of lanes 0 to i.
template <class Operation>
CUDAL1_INLINE typename Operation::Value warp_inclusive_scan(typename Operation::Value value) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const typename Operation::Value before = shuffle_up(value, offset);
    if (lane() >= offset) value = Operation::combine(before, value);
  }
  return value;
}

//! Lane i gets the values of lanes 0 to i - 1; lane 0 the identity.
template <class Operation>
CUDAL1_INLINE typename Operation::Value warp_exclusive_scan(typename Operation::Value value) {
  const typename Operation::Value before = shuffle_up(warp_inclusive_scan<Operation>(value), 1);
  return lane() == 0 ? Operation::identity() : before;
}

//! What all threads of the warps before this one give, and what the whole block gives.
template <class Value>
struct WarpPlace {
  Value before, total;
};
template <class Operation, int threads>
CUDAL1_INLINE WarpPlace<typename Operation::Value> place_in_block(typename Operation::Value inclusive) {
  using Value = typename Operation::Value;
  static_assert(threads % 32 == 0 && threads >= 32 && threads <= 1024, "threads: a multiple of 32, up to 1024");
  constexpr int warps = threads / 32;
  if constexpr (warps == 1) return {Operation::identity(), shuffle(inclusive, 31)};
  const Value* totals = exchange_between_warps<Value, warps>(inclusive, lane() == 31);
  const Value scanned = warp_inclusive_scan<Operation>(lane() < warps ? totals[lane()] : Operation::identity());
  const int warp = threadIdx.x / 32;
  const Value before = shuffle(scanned, warp - 1);
  return {warp == 0 ? Operation::identity() : before, shuffle(scanned, warps - 1)};
}

//! Thread i gets the values of threads 0 to i; `total`, if asked for, what all give.
template <class Operation, int threads>
CUDAL1_INLINE typename Operation::Value block_inclusive_scan(typename Operation::Value value,
                                                             typename Operation::Value* total = nullptr) {
  value = warp_inclusive_scan<Operation>(value);
  const auto place = place_in_block<Operation, threads>(value);
  if (total) *total = place.total;
  return Operation::combine(place.before, value);
}

//! Thread i gets the values of threads 0 to i - 1; thread 0 the identity.
template <class Operation, int threads>
CUDAL1_INLINE typename Operation::Value block_exclusive_scan(typename Operation::Value value,
                                                             typename Operation::Value* total = nullptr) {
  value = warp_inclusive_scan<Operation>(value);
  const auto place = place_in_block<Operation, threads>(value);
  if (total) *total = place.total;
  const typename Operation::Value before = shuffle_up(value, 1);
  return lane() == 0 ? place.before : Operation::combine(place.before, before);
}

}  // namespace cudal1
