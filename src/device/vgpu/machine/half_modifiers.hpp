// What .ftz, .sat and .relu do to 16-bit floating-point numbers.
#pragma once

#include <algorithm>
#include <type_traits>

#include "device/vgpu/machine/half.hpp"

namespace cudal1::vgpu {

template <class T>
T without_subnormal(T a) {
  return {static_cast<std::uint16_t>((a.bits & 0x7fffu) < T::smallest_normal ? a.bits & 0x8000u : a.bits)};
}
template <class F>
struct SmallFlushed {
  template <class... T>
  auto operator()(T... operands) const {
    return without_subnormal(F{}(without_subnormal(operands)...));
  }
};
//! To [0, 1]; NaN becomes 0. Bits of negative numbers and of NaN are above those of infinity.
template <class F>
struct SmallSaturated {
  template <class... Operands>
  auto operator()(Operands... operands) const {
    const auto result = F{}(operands...);
    using T = std::remove_const_t<decltype(result)>;
    const bool negative_or_nan = result.bits > T::infinity;
    return T{negative_or_nan ? std::uint16_t{0} : std::min<std::uint16_t>(result.bits, T::one)};
  }
};
//! Negative numbers become 0; NaN stays.
template <class F>
struct SmallRectified {
  template <class... Operands>
  auto operator()(Operands... operands) const {
    const auto result = F{}(operands...);
    using T = std::remove_const_t<decltype(result)>;
    return T{(result.bits & 0x8000u) != 0 ? std::uint16_t{0} : result.bits};
  }
};

}  // namespace cudal1::vgpu
