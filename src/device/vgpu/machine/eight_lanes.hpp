// What reads a register reads eight lanes at once, and the host's processor waits long for what was just written in
// smaller pieces: registers are written eight lanes at a time where that is possible. The compiler takes vectors apart
// in functions that are not compiled for wide ones, even where they end up in one that is; hence these by hand.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {

template <class Word>
using Eight __attribute__((vector_size(8 * sizeof(Word)), may_alias, aligned(1))) = Word;

#if defined(__x86_64__)
CUDAL1_WIDE_VECTORS inline void put_eight(u32* to, u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u32 h) {
  const __m256i all =
      _mm256_setr_epi32(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), static_cast<int>(d),
                        static_cast<int>(e), static_cast<int>(f), static_cast<int>(g), static_cast<int>(h));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), all);
}
CUDAL1_WIDE_VECTORS inline void put_eight(u64* to, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h) {
  const __m256i low =
      _mm256_setr_epi64x(static_cast<i64>(a), static_cast<i64>(b), static_cast<i64>(c), static_cast<i64>(d));
  const __m256i high =
      _mm256_setr_epi64x(static_cast<i64>(e), static_cast<i64>(f), static_cast<i64>(g), static_cast<i64>(h));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4), high);
}
#endif

//! Lanes 0 to 7 from word(0) to word(7). `wide`: what calls it is compiled for wide vectors.
template <bool wide, class Word, class WordOfLane>
__attribute__((always_inline)) inline void write_eight(Word* to, WordOfLane word) {
#if defined(__x86_64__)
  if constexpr (wide) return put_eight(to, word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7));
#endif
  for (int lane = 0; lane < 8; ++lane) to[lane] = word(lane);
}

}  // namespace cudal1::vgpu
