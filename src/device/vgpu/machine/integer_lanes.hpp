// What the innermost loop does with integers beyond adding them.
#pragma once

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/step.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudal1::vgpu {

//! To twice the width.
template <class R>
struct MultiplyWide {
  template <class T>
  R operator()(T a, T b) const {
    return static_cast<R>(R(a) * R(b));
  }
};

#if defined(__x86_64__)

//! Where the step's comparison holds, a bit a lane straight from the vector unit; compilers make that of a loop only by
//! way of memory. Unsigned numbers are in order as signed ones once their highest bit is turned.
CUDAL1_WIDE_VECTORS inline Mask where_it_holds(const std::byte* registers, const Step& step) {
  const auto* const a = reinterpret_cast<const __m256i*>(registers + step.operation.operands[0]);
  const auto* const b = reinterpret_cast<const __m256i*>(registers + step.operation.operands[1]);
  const __m256i turn = _mm256_set1_epi32(step.has_sign ? 0 : static_cast<int>(0x80000000u));
  Mask less = 0, equal = 0;
  for (int i = 0; i < warp_size / 8; ++i) {
    const __m256i left = _mm256_load_si256(a + i), right = _mm256_load_si256(b + i);
    const __m256i below = _mm256_cmpgt_epi32(_mm256_xor_si256(right, turn), _mm256_xor_si256(left, turn));
    const __m256i same = _mm256_cmpeq_epi32(left, right);
    less |= static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(below))) << 8 * i;
    equal |= static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(same))) << 8 * i;
  }
  return (step.less ? less : 0) | (step.equal ? equal : 0) | (step.greater ? ~(less | equal) : 0);
}

#else

inline Mask where_it_holds(const std::byte*, const Step&) { return 0; }

#endif

}  // namespace cudal1::vgpu
