// Floating-point numbers in 32 and 64 bits.
#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {
namespace {

struct FusedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

//! The device has one NaN for results in fp32; the host keeps the operand's.
template <class F>
struct OneNan {
  template <class... T>
  auto operator()(T... operands) const {
    const auto result = F{}(operands...);
    if constexpr (std::is_same_v<decltype(F{}(operands...)), float>)
      return result == result ? result : std::bit_cast<float>(0x7fffffffu);
    else
      return result;
  }
};

//! In the device's default rounding, to nearest, which is also the host's.
template <class T>
void add_real(ArithmeticTable& table, const std::string& type) {
  for (const std::string rounding : {"", "rn."}) {
    table["add." + rounding + type] = value<OneNan<Add>, T, T, T>();
    table["sub." + rounding + type] = value<OneNan<Subtract>, T, T, T>();
    table["mul." + rounding + type] = value<OneNan<Multiply>, T, T, T>();
  }
  table["fma.rn." + type] = value<OneNan<FusedMultiplyAdd>, T, T, T, T>();
  table["div.rn." + type] = value<OneNan<Divide>, T, T, T>();
  table["min." + type] = value<OneNan<Minimum>, T, T, T>();
  table["max." + type] = value<OneNan<Maximum>, T, T, T>();
  table["neg." + type] = value<Negate, T, T>();
  table["abs." + type] = value<Absolute, T, T>();
}

}  // namespace

void add_real_arithmetic(ArithmeticTable& table) {
  add_real<float>(table, "f32");
  add_real<double>(table, "f64");
}

}  // namespace cudal1::vgpu
