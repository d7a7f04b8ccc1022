// Sums and products of fp32 for all lanes. A NaN is the device's, which is rare enough to look for in all lanes at
// once; hence these by hand.
#pragma once

#include "device/vgpu/machine/arithmetic_lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudal1::vgpu {

#if defined(__x86_64__)

CUDAL1_WIDE_VECTORS inline __m256 eight_reals(const std::byte* registers, Slot slot, int lane) {
  return _mm256_load_ps(reinterpret_cast<const float*>(registers + slot) + lane);
}

CUDAL1_WIDE_VECTORS __attribute__((noinline, cold)) inline void make_nans_one(float* results) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  for (int lane = 0; lane < warp_size; lane += 8) {
    const __m256 value = _mm256_load_ps(results + lane);
    _mm256_store_ps(results + lane, _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q)));
  }
}

CUDAL1_WIDE_VECTORS inline void put_reals(std::byte* registers, Slot slot, __m256 a, __m256 b, __m256 c, __m256 d) {
  auto* const to = reinterpret_cast<float*>(registers + slot);
  _mm256_store_ps(to, a);
  _mm256_store_ps(to + 8, b);
  _mm256_store_ps(to + 16, c);
  _mm256_store_ps(to + 24, d);
  const __m256 any = _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), _mm256_cmp_ps(c, d, _CMP_UNORD_Q));
  if (__builtin_expect(_mm256_movemask_ps(any) != 0, 0)) make_nans_one(to);
}

CUDAL1_WIDE_VECTORS inline void fused_multiply_add(std::byte* registers, const Operation& operation) {
  const auto eight = [&](int lane) CUDAL1_WIDE_VECTORS {
    return _mm256_fmadd_ps(eight_reals(registers, operation.operands[0], lane),
                           eight_reals(registers, operation.operands[1], lane),
                           eight_reals(registers, operation.operands[2], lane));
  };
  put_reals(registers, operation.result, eight(0), eight(8), eight(16), eight(24));
}

CUDAL1_WIDE_VECTORS inline void add_real(std::byte* registers, const Operation& operation) {
  const auto eight = [&](int lane) CUDAL1_WIDE_VECTORS {
    return _mm256_add_ps(eight_reals(registers, operation.operands[0], lane),
                         eight_reals(registers, operation.operands[1], lane));
  };
  put_reals(registers, operation.result, eight(0), eight(8), eight(16), eight(24));
}

CUDAL1_WIDE_VECTORS inline void multiply_real(std::byte* registers, const Operation& operation) {
  const auto eight = [&](int lane) CUDAL1_WIDE_VECTORS {
    return _mm256_mul_ps(eight_reals(registers, operation.operands[0], lane),
                         eight_reals(registers, operation.operands[1], lane));
  };
  put_reals(registers, operation.result, eight(0), eight(8), eight(16), eight(24));
}

#else

inline void fused_multiply_add(std::byte*, const Operation&) {}
inline void add_real(std::byte*, const Operation&) {}
inline void multiply_real(std::byte*, const Operation&) {}

#endif

}  // namespace cudal1::vgpu
