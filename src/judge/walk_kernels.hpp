// Kernels with which the judge walks over its own tensors on a device: one pass each, where tensor operators make a
// dozen and keep as many temporaries. device_walks.hpp launches them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "judge/convolution_kernel.hpp"

namespace cudal1::walk_kernels {

//! Of every block: the reduction of sums counts on it.
inline constexpr int threads_of_a_block = 256;

//! Largest, squares, counted and mismatches of a block, all as fp64.
inline constexpr int numbers_of_a_block = 4;

//! As the kernel `moved` numbers them.
enum class Direction : long long {
  thirds = 0,
  never_zero = 1,
  outward = 2,            //!< zero has no outside, and stays
  outward_from_zero = 3,  //!< it goes where its sign points
};

//! All parameters have eight bytes.
inline std::vector<std::string> names() {
  std::vector<std::string> all = {"sizes", "largest_sizes"};
  for (const int channels : channels_of_a_thread) all.push_back(convolution_for(channels));
  for (const char* kernel : {"moved", "errors", "comparison", "within", "largest_errors"})
    for (const char* type : {"float", "double", "Half", "Bfloat"}) all.push_back(fmt::format("{}<{}>", kernel, type));
  return all;
}

inline constexpr const char* walks_source = R"cuda(
typedef unsigned long long Word;
typedef long long Index;

struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

__device__ __forceinline__ double wide(double x) { return x; }
__device__ __forceinline__ double wide(float x) { return (double)x; }
__device__ __forceinline__ double wide(Bfloat x) { return (double)__uint_as_float((unsigned)x.bits << 16); }
__device__ __forceinline__ double wide(Half x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return (double)result;
}

__device__ __forceinline__ bool is_finite(double x) { return fabs(x) < __longlong_as_double(0x7ff0000000000000ll); }

__device__ __forceinline__ Index own_index() { return (Index)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ Index all_threads() { return (Index)gridDim.x * blockDim.x; }

// --- moves

// SplitMix64's: what it makes of counted numbers is random.
__device__ __forceinline__ Word mixed(Word x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// One random number has directions for four elements. Each of them makes it anew: that costs less than to read the
// four by one thread, which would not read them beside its neighbours'.
__device__ __forceinline__ Word bits_at(Index i, Word seed) {
  const Word number = mixed(mixed(seed) + 0x9e3779b97f4a7c15ull * (Word)(i / 4 + 1));
  return number >> (16 * (i % 4)) & 0xffff;
}

// As direction_in and random_directions of ulp_moves.cpp.
__device__ __forceinline__ double direction_at(Index i, Word seed, Index kind, double value) {
  if (kind == 2) return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
  if (kind == 3) return copysign(1.0, value);
  const Word bits = bits_at(i, seed);
  if (kind == 0) return (double)((Index)(bits * 3 >> 16) - 1);
  const double size = 0.4 + 0.8 * (1.0 / 32768.0) * (double)(bits & 0x7fff);
  return (bits & 0x8000) != 0 ? size : -size;
}

// Nobody fuses the steps: results are those of the processor.
__device__ __forceinline__ double move_of(double direction, double size, double relative, double absolute) {
  const double move = __dmul_rn(direction, __dadd_rn(__dmul_rn(size, relative), absolute));
  return is_finite(move) ? move : 0.0;
}

// By |sizes| (of the values themselves, without any), and no farther than |most| where that is given.
template <class Value>
__global__ void moved(const Value* __restrict__ values, const double* __restrict__ sizes,
                      const double* __restrict__ most, double* __restrict__ result, Index count, double relative,
                      double absolute, Word seed, Index kind) {
#pragma unroll 4
  for (Index i = own_index(); i < count; i += all_threads()) {
    const double value = wide(values[i]), size = fabs(sizes ? sizes[i] : value);
    double move = move_of(direction_at(i, seed, kind, value), size, relative, absolute);
    if (most) move = fmax(-fabs(most[i]), fmin(fabs(most[i]), move));
    result[i] = __dadd_rn(value, move);
  }
}

// --- sums

struct Sums {
  double largest, squares, counted, mismatches;
};

__device__ __forceinline__ void add(Sums& sums, bool counts, double error) {
  const double counted = counts ? fabs(error) : 0.0;
  sums.largest = fmax(sums.largest, counted);
  sums.squares += counted * counted;
  sums.counted += counts ? 1.0 : 0.0;
}

__device__ __forceinline__ void add(Sums& sums, const Sums& others) {
  sums.largest = fmax(sums.largest, others.largest);
  sums.squares += others.squares;
  sums.counted += others.counted;
  sums.mismatches += others.mismatches;
}

// The sums of a block, in a fixed order. The host adds up those of all blocks.
__device__ __forceinline__ void keep_sums(const Sums& own, double* sums_of_blocks) {
  __shared__ Sums sums[256];
  sums[threadIdx.x] = own;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) add(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  if (threadIdx.x != 0) return;
  double* kept = sums_of_blocks + 4 * (Index)blockIdx.x;
  kept[0] = sums[0].largest;
  kept[1] = sums[0].squares;
  kept[2] = sums[0].counted;
  kept[3] = sums[0].mismatches;
}

template <class AddElement>
__device__ __forceinline__ void walk(Index count, double* sums_of_blocks, AddElement add_element) {
  Sums sums = {0.0, 0.0, 0.0, 0.0};
#pragma unroll 4
  for (Index i = own_index(); i < count; i += all_threads()) add_element(sums, i);
  keep_sums(sums, sums_of_blocks);
}

// `limit`: numbers below it stay finite in the output's dtype.
template <class Given>
__global__ void errors(const Given* given, const double* exact, Index count, double limit, double* sums_of_blocks) {
  walk(count, sums_of_blocks, [=](Sums& sums, Index i) {
    const double value = wide(given[i]), wanted = exact[i];
    add(sums, fabs(wanted) < limit && is_finite(value), value - wanted);
  });
}

__global__ void sizes(const double* exact, Index count, double limit, double* sums_of_blocks) {
  walk(count, sums_of_blocks, [=](Sums& sums, Index i) { add(sums, fabs(exact[i]) < limit, exact[i]); });
}

__device__ __forceinline__ bool is_same(double x, double y) { return x == y || (x != x && y != y); }

// What is found where the exact number does not fit into the output's dtype: NaN for NaN, else infinity.
__device__ __forceinline__ bool is_same_special(double wanted, double value) {
  return wanted != wanted ? value != value : !is_finite(value) && value == copysign(value, wanted);
}

template <class Given>
__global__ void comparison(const double* exact, const Given* usual, const Given* given, Index count, double limit,
                           double* sums_of_blocks) {
  walk(count, sums_of_blocks, [=](Sums& sums, Index i) {
    const double value = wide(given[i]), wanted = exact[i];
    const bool finite = fabs(wanted) < limit, given_finite = is_finite(value);
    add(sums, finite && given_finite, value - wanted);
    const bool mismatch = finite ? !given_finite && is_finite(wide(usual[i]))
                                 : !is_same_special(wanted, value) && !is_same(wide(usual[i]), value);
    sums.mismatches += mismatch ? 1.0 : 0.0;
  });
}

template <class Value>
__global__ void within(const Value* left, const Value* right, Index count, double budget, double* sums_of_blocks) {
  walk(count, sums_of_blocks, [=](Sums& sums, Index i) {
    const double x = wide(left[i]), y = wide(right[i]);
    sums.mismatches += fabs(x - y) <= budget || is_same(x, y) ? 0.0 : 1.0;
  });
}

// --- the largest along a dimension of a contiguous tensor of outer x count x inner elements

// Numbers that are not negative are in the order of their bits. Most are no news, and then nobody waits for others.
__device__ __forceinline__ void raise(double* largest, double found) {
  if (found > *(const volatile double*)largest) atomicMax((Word*)largest, (Word)__double_as_longlong(found));
}

// Rows of inner elements in pieces, so many lanes of a warp for each. All its lanes stay to the end, since they ask
// each other for what they found.
template <class SizeAt>
__device__ __forceinline__ void walk_rows(Index outer, Index count, Index inner, Index lanes, Index pieces,
                                          double* largest, SizeAt size_at) {
  const Index units = outer * count * pieces, own_lane = threadIdx.x % lanes;
  for (Index first = own_index() / 32 * 32; first < units * lanes; first += all_threads()) {
    const Index unit = (first + threadIdx.x % 32) / lanes, row = unit / pieces, piece = unit % pieces;
    const Index begin = row * inner + inner * piece / pieces, end = row * inner + inner * (piece + 1) / pieces;
    double most = 0.0;
    if (unit < units) {
#pragma unroll 4
      for (Index i = begin + own_lane; i < end; i += lanes) most = fmax(most, size_at(i));
    }
    for (int other = (int)lanes / 2; other > 0; other /= 2)
      most = fmax(most, __shfl_xor_sync(0xffffffffu, most, other));
    if (unit < units && own_lane == 0) raise(largest + row % count, most);
  }
}

// Many short rows: a thread for each column of count x inner, beside those of its neighbours, and for a part of the
// outer elements there.
template <class SizeAt>
__device__ __forceinline__ void walk_columns(Index outer, Index count, Index inner, Index parts, double* largest,
                                             SizeAt size_at) {
  const Index columns = count * inner;
  for (Index unit = own_index(); unit < columns * parts; unit += all_threads()) {
    const Index column = unit % columns;
    double most = 0.0;
#pragma unroll 4
    for (Index o = unit / columns; o < outer; o += parts) most = fmax(most, size_at(o * columns + column));
    raise(largest + column / inner, most);
  }
}

template <class SizeAt>
__device__ __forceinline__ void walk_along(Index outer, Index count, Index inner, Index lanes, Index parts,
                                           double* largest, SizeAt size_at) {
  if (lanes > 0)
    walk_rows(outer, count, inner, lanes, parts, largest, size_at);
  else
    walk_columns(outer, count, inner, parts, largest, size_at);
}

template <class Given>
__global__ void largest_errors(const Given* given, const double* exact, double limit, Index outer, Index count,
                               Index inner, Index lanes, Index parts, double* largest) {
  walk_along(outer, count, inner, lanes, parts, largest, [=](Index i) {
    const double value = wide(given[i]), wanted = exact[i];
    return fabs(wanted) < limit && is_finite(value) ? fabs(value - wanted) : 0.0;
  });
}

__global__ void largest_sizes(const double* exact, double limit, Index outer, Index count, Index inner, Index lanes,
                              Index parts, double* largest) {
  walk_along(outer, count, inner, lanes, parts, largest, [=](Index i) {
    const double size = fabs(exact[i]);
    return size < limit ? size : 0.0;
  });
}
)cuda";

inline std::string source() { return std::string(walks_source) + convolution_source; }

}  // namespace cudal1::walk_kernels
