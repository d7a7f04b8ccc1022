// How the lanes of a load come from memory into registers.
#pragma once

#include <cstring>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/eight_lanes.hpp"
#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {

#define CUDAL1_INLINE __attribute__((always_inline)) inline

//! What is narrower than its register is extended, by its sign if it has one.
template <class T, class Register>
CUDAL1_INLINE WordOf<Register> extended(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(Register))
    return to_word<Register>(static_cast<Register>(value));
  else
    return to_word<T>(value);
}

template <class T>
CUDAL1_INLINE T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

//! In memory, where it may lie anywhere and be somebody else's type.
template <class T>
using Loose __attribute__((may_alias, aligned(1))) = T;

//! Eight words.
template <class Word>
CUDAL1_INLINE void copy_eight(void* to, const void* from) {
  *static_cast<Eight<Word>*>(to) = *static_cast<const Eight<Word>*>(from);
}

//! The registers of an access, each with 32 lanes.
template <class Register, int vector>
struct Columns {
  using Word = WordOf<Register>;
  std::array<Word*, vector> words;
  Columns(Registers& registers, const Step& step) {
    for (std::size_t i = 0; i < vector; ++i) words[i] = registers.words<Word>(step.data[i]);
  }
};

// Lanes `begin` to `begin + count` with one address, or side by side from `from` on.
template <bool wide, class T, class Register, int vector, int count>
CUDAL1_INLINE void load_same(const Columns<Register, vector>& columns, const std::byte* from, int begin) {
  for (std::size_t i = 0; i < vector; ++i) {
    const auto word = extended<T, Register>(read<T>(from + i * sizeof(T)));
    for (int lane = begin; lane < begin + count; lane += 8)
      write_eight<wide>(columns.words[i] + lane, [&](int) { return word; });
  }
}

#if defined(__x86_64__)
//! Eight lanes with four words each: a row of memory is a lane, a column a register.
CUDAL1_WIDE_VECTORS inline void load_eight_by_four(u32* a, u32* b, u32* c, u32* d, const std::byte* from) {
  const auto rows = [&](int lane) CUDAL1_WIDE_VECTORS {  // this one and the fourth behind it
    const auto* row = reinterpret_cast<const __m128i*>(from) + lane;
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(row)), _mm_loadu_si128(row + 4), 1);
  };
  const __m256i r0 = rows(0), r1 = rows(1), r2 = rows(2), r3 = rows(3);
  const __m256i ab01 = _mm256_unpacklo_epi32(r0, r1), ab23 = _mm256_unpacklo_epi32(r2, r3);
  const __m256i cd01 = _mm256_unpackhi_epi32(r0, r1), cd23 = _mm256_unpackhi_epi32(r2, r3);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), _mm256_unpacklo_epi64(ab01, ab23));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), _mm256_unpackhi_epi64(ab01, ab23));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(c), _mm256_unpacklo_epi64(cd01, cd23));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(d), _mm256_unpackhi_epi64(cd01, cd23));
}
#endif

template <bool wide, class T, class Register, int vector, int count>
CUDAL1_INLINE void load_consecutive(const Columns<Register, vector>& columns, const std::byte* from, int begin) {
  if constexpr (vector == 1 && sizeof(T) == sizeof(WordOf<Register>)) {
    for (int lane = 0; lane < count; lane += 8)
      copy_eight<WordOf<Register>>(columns.words[0] + begin + lane, from + static_cast<std::size_t>(lane) * sizeof(T));
    return;
  }
#if defined(__x86_64__)
  if constexpr (wide && vector == 4 && sizeof(T) == 4 && sizeof(Register) == 4) {
    const auto& [a, b, c, d] = columns.words;
    for (int lane = 0; lane < count; lane += 8, from += 8 * vector * sizeof(T))
      load_eight_by_four(a + begin + lane, b + begin + lane, c + begin + lane, d + begin + lane, from);
    return;
  }
#endif
  const auto* values = reinterpret_cast<const Loose<T>*>(from);
  for (std::size_t i = 0; i < vector; ++i) {
    auto* const words = columns.words[i] + begin;
#pragma GCC ivdep
    for (std::size_t lane = 0; lane < count; ++lane) words[lane] = extended<T, Register>(values[lane * vector + i]);
  }
}

template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load_scattered(const Columns<Register, vector>& columns, const Reach& reach) {
  for (std::size_t i = 0; i < vector; ++i)
    for (std::size_t lane = 0; lane < warp_size; lane += 8) {
      const std::int64_t* deltas = reach.pattern->deltas.data() + lane;
      const auto word = [&](int n) { return extended<T, Register>(read<T>(reach.first + deltas[n] + i * sizeof(T))); };
      write_eight<wide>(columns.words[i] + lane, word);
    }
}

template <class T, class Register, int vector>
CUDAL1_INLINE void load_lane(const Columns<Register, vector>& columns, const std::byte* from, int lane) {
  for (std::size_t i = 0; i < vector; ++i)
    columns.words[i][lane] = extended<T, Register>(read<T>(from + i * sizeof(T)));
}

//! All lanes.
template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load_all(const Columns<Register, vector>& columns, const Reach& reach) {
  switch (reach.pattern->shape) {
    case LaneShape::consecutive:
      return load_consecutive<wide, T, Register, vector, warp_size>(columns, reach.first, 0);
    case LaneShape::same:
      return load_same<wide, T, Register, vector, warp_size>(columns, reach.first, 0);
    case LaneShape::consecutive_by_eights:
      for (int lane = 0; lane < warp_size; lane += 8)
        load_consecutive<wide, T, Register, vector, 8>(columns, reach.at(lane), lane);
      return;
    case LaneShape::same_by_eights:
      for (int lane = 0; lane < warp_size; lane += 8)
        load_same<wide, T, Register, vector, 8>(columns, reach.at(lane), lane);
      return;
    case LaneShape::scattered:
      return load_scattered<wide, T, Register, vector>(columns, reach);
  }
}

}  // namespace cudal1::vgpu
