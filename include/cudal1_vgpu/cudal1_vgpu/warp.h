// Shuffles, votes, matches and reductions of a warp.
#pragma once

#include "threads.h"

namespace cudal1_vgpu {

// What `c` of PTX shfl holds: the segment of `width` lanes a shuffle stays in, and the last lane it may read.
CUDAL1_DEVICE int shuffle_clamp(int width, int last) { return ((32 - width) << 8) | last; }

CUDAL1_DEVICE int shuffle_index(unsigned mask, int v, int lane, int width) {
  return __nvvm_shfl_sync_idx_i32(mask, v, lane, shuffle_clamp(width, 31));
}
CUDAL1_DEVICE int shuffle_up(unsigned mask, int v, int delta, int width) {
  return __nvvm_shfl_sync_up_i32(mask, v, delta, shuffle_clamp(width, 0));
}
CUDAL1_DEVICE int shuffle_down(unsigned mask, int v, int delta, int width) {
  return __nvvm_shfl_sync_down_i32(mask, v, delta, shuffle_clamp(width, 31));
}
CUDAL1_DEVICE int shuffle_xor(unsigned mask, int v, int lanes, int width) {
  return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, shuffle_clamp(width, 31));
}

// Types of 4 bytes in one shuffle, of 8 bytes in two.
template <class T, class Shuffle>
CUDAL1_DEVICE T shuffle_bits(T value, Shuffle shuffle) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, shuffle(__builtin_bit_cast(int, value)));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, static_cast<unsigned short>(shuffle(__builtin_bit_cast(unsigned short, value))));
  } else {
    static_assert(sizeof(T) == 8, "shuffles move 2, 4 or 8 bytes");
    int2 halves = __builtin_bit_cast(int2, value);
    halves.x = shuffle(halves.x);
    halves.y = shuffle(halves.y);
    return __builtin_bit_cast(T, halves);
  }
}

}  // namespace cudal1_vgpu

#define CUDAL1_SHUFFLES(T)                                                                                        \
  CUDAL1_DEVICE T __shfl_sync(unsigned int mask, T value, int lane, int width = 32) {                             \
    return cudal1_vgpu::shuffle_bits(                                                                             \
        value, [=](int v) __attribute__((nodebug)) { return cudal1_vgpu::shuffle_index(mask, v, lane, width); }); \
  }                                                                                                               \
  CUDAL1_DEVICE T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {                \
    return cudal1_vgpu::shuffle_bits(                                                                             \
        value, [=](int v) __attribute__((nodebug)) { return cudal1_vgpu::shuffle_up(mask, v, delta, width); });   \
  }                                                                                                               \
  CUDAL1_DEVICE T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {              \
    return cudal1_vgpu::shuffle_bits(                                                                             \
        value, [=](int v) __attribute__((nodebug)) { return cudal1_vgpu::shuffle_down(mask, v, delta, width); }); \
  }                                                                                                               \
  CUDAL1_DEVICE T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32) {                        \
    return cudal1_vgpu::shuffle_bits(                                                                             \
        value, [=](int v) __attribute__((nodebug)) { return cudal1_vgpu::shuffle_xor(mask, v, lanes, width); });  \
  }
CUDAL1_SHUFFLES(int)
CUDAL1_SHUFFLES(unsigned int)
CUDAL1_SHUFFLES(long)
CUDAL1_SHUFFLES(unsigned long)
CUDAL1_SHUFFLES(long long)
CUDAL1_SHUFFLES(unsigned long long)
CUDAL1_SHUFFLES(float)
CUDAL1_SHUFFLES(double)

CUDAL1_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
CUDAL1_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
CUDAL1_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
CUDAL1_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
CUDAL1_DEVICE unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

// match.sync compares 4 or 8 bytes.
#define CUDAL1_MATCHES(T, Bits, suffix, constraint)                                                \
  CUDAL1_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) {                        \
    unsigned int lanes;                                                                            \
    asm volatile("match.any.sync." suffix " %0, %1, %2;"                                           \
                 : "=r"(lanes)                                                                     \
                 : constraint(__builtin_bit_cast(Bits, value)), "r"(mask));                        \
    return lanes;                                                                                  \
  }                                                                                                \
  CUDAL1_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* all_equal) {        \
    unsigned int lanes, equal;                                                                     \
    asm volatile("{ .reg .pred p; match.all.sync." suffix " %0|p, %2, %3; selp.u32 %1, 1, 0, p; }" \
                 : "=r"(lanes), "=r"(equal)                                                        \
                 : constraint(__builtin_bit_cast(Bits, value)), "r"(mask));                        \
    *all_equal = static_cast<int>(equal);                                                          \
    return lanes;                                                                                  \
  }
CUDAL1_MATCHES(int, unsigned int, "b32", "r")
CUDAL1_MATCHES(unsigned int, unsigned int, "b32", "r")
CUDAL1_MATCHES(float, unsigned int, "b32", "r")
CUDAL1_MATCHES(long, unsigned long, "b64", "l")
CUDAL1_MATCHES(unsigned long, unsigned long, "b64", "l")
CUDAL1_MATCHES(long long, unsigned long, "b64", "l")
CUDAL1_MATCHES(unsigned long long, unsigned long, "b64", "l")
CUDAL1_MATCHES(double, unsigned long, "b64", "l")
#undef CUDAL1_MATCHES

#define CUDAL1_WARP_REDUCTION(name, T, operation)                                                \
  CUDAL1_DEVICE T name(unsigned int mask, T value) {                                             \
    T result;                                                                                    \
    asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                               \
  }
CUDAL1_WARP_REDUCTION(__reduce_add_sync, unsigned int, "add.u32")
CUDAL1_WARP_REDUCTION(__reduce_min_sync, unsigned int, "min.u32")
CUDAL1_WARP_REDUCTION(__reduce_max_sync, unsigned int, "max.u32")
CUDAL1_WARP_REDUCTION(__reduce_add_sync, int, "add.s32")
CUDAL1_WARP_REDUCTION(__reduce_min_sync, int, "min.s32")
CUDAL1_WARP_REDUCTION(__reduce_max_sync, int, "max.s32")
CUDAL1_WARP_REDUCTION(__reduce_and_sync, unsigned int, "and.b32")
CUDAL1_WARP_REDUCTION(__reduce_or_sync, unsigned int, "or.b32")
CUDAL1_WARP_REDUCTION(__reduce_xor_sync, unsigned int, "xor.b32")
#undef CUDAL1_WARP_REDUCTION
