// cvt with every rounding and to every small format: not what programs spend their time in.
#include <fmt/format.h>

#include <limits>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half_modifiers.hpp"
#include "device/vgpu/machine/rounding.hpp"

namespace cudal1::vgpu {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;

//! A tf32 number in a register of 32 bits.
struct Tf32 {
  u32 bits;
};

template <class R>
struct Layout;
template <>
struct Layout<Half> {
  static constexpr Format format = half_format;
  static constexpr int unused_bits = 0;
};
template <>
struct Layout<Bfloat> {
  static constexpr Format format = bfloat_format;
  static constexpr int unused_bits = 0;
};
template <>
struct Layout<Tf32> {
  static constexpr Format format = tf32_format;
  static constexpr int unused_bits = 13;
};
template <>
struct Layout<float> {
  static constexpr Format format = single_format;
  static constexpr int unused_bits = 0;
};
template <>
struct Layout<double> {
  static constexpr Format format = double_format;
  static constexpr int unused_bits = 0;
};

template <class R>
R from_bits(u64 bits) {
  return from_word<R>(static_cast<WordOf<R>>(bits << Layout<R>::unused_bits));
}

//! The device's one NaN: all ones but the sign.
template <class R>
R one_nan() {
  return from_word<R>(static_cast<WordOf<R>>((u64{1} << (8 * sizeof(R) - 1)) - 1));
}

template <class R>
double as_double(R value) {
  if constexpr (std::is_floating_point_v<R>)
    return static_cast<double>(value);
  else
    return static_cast<double>(value.as_float());
}

//! From any number to any floating-point format, rounded once.
template <class R, Rounding mode>
struct RoundTo {
  template <class T>
  R operator()(T value) const {
    if constexpr (std::is_integral_v<T>) {
      const bool negative = value < 0;
      const u64 magnitude = negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
      const u64 sign = negative ? u64{1} << (8 * sizeof(R) - 1) : 0;
      return from_bits<R>(sign | rounded_magnitude({negative, magnitude, 0}, Layout<R>::format, mode));
    } else {
      const double exact = as_double(value);
      return exact != exact ? one_nan<R>() : from_bits<R>(rounded(exact, Layout<R>::format, mode));
    }
  }
};

//! Two numbers in one register: the first operand goes to the upper half.
template <class F>
struct PackTwo {
  u32 operator()(float upper, float lower) const { return u32{F{}(upper).bits} << 16 | F{}(lower).bits; }
};

// --- integral results
template <Rounding mode>
double to_integral(double value) {
  switch (mode) {
    case Rounding::to_zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}
template <class R, Rounding mode>
struct SmallToInteger {
  template <class T>
  R operator()(T value) const {
    const double integral = to_integral<mode>(static_cast<double>(value.as_float()));
    if (integral != integral) return 0;
    const double above = std::ldexp(1.0, std::numeric_limits<R>::digits);
    if (integral >= above) return std::numeric_limits<R>::max();
    if (integral < (std::is_signed_v<R> ? -above : 0.0)) return std::numeric_limits<R>::min();
    return static_cast<R>(integral);
  }
};
template <Rounding mode>
struct SmallToIntegral {
  template <class T>
  T operator()(T value) const {
    return T::exactly(static_cast<float>(to_integral<mode>(static_cast<double>(value.as_float()))));
  }
};
//! .sat between integers: the nearest number that the result can hold.
template <class R>
struct ClampInteger {
  template <class T>
  R operator()(T value) const {
    if (std::cmp_greater(value, std::numeric_limits<R>::max())) return std::numeric_limits<R>::max();
    if (std::cmp_less(value, std::numeric_limits<R>::min())) return std::numeric_limits<R>::min();
    return static_cast<R>(value);
  }
};
template <class R>
using Held = std::conditional_t<sizeof(R) != 1, R, std::conditional_t<std::is_signed_v<R>, i16, u16>>;

// --- fp8, two at a time; .satfinite: what is too large becomes the largest number
template <Format format, bool rectified>
u32 small_byte(double value) {
  if (value != value) return 0x7f;
  if (rectified && std::signbit(value)) return 0;
  const u64 largest = beyond_finite(format) - 1, bits = rounded(value, format, Rounding::nearest);
  return static_cast<u32>((bits & 0x80u) | std::min(bits & 0x7fu, largest));
}
template <Format format, bool rectified>
struct PackBytes {
  u16 operator()(float upper, float lower) const {
    return static_cast<u16>(small_byte<format, rectified>(upper) << 8 | small_byte<format, rectified>(lower));
  }
};
template <Format format, bool rectified>
struct HalvesToBytes {
  u16 operator()(u32 halves) const {
    const auto part = [&](u32 shift) { return double{float_of_half(static_cast<u16>(halves >> shift))}; };
    return static_cast<u16>(small_byte<format, rectified>(part(16)) << 8 | small_byte<format, rectified>(part(0)));
  }
};
//! Both formats fit half precision exactly; e5m2 is its upper byte.
template <Format format, bool rectified>
struct BytesToHalves {
  u32 operator()(u16 bytes) const { return u32{half_of(bytes >> 8 & 0xff)} << 16 | half_of(bytes & 0xff); }

 private:
  static u16 half_of(int byte) {
    const int magnitude = byte & 0x7f;
    const bool negative = (byte & 0x80) != 0;
    if (static_cast<u64>(magnitude) > beyond_finite(format) || (!format.has_infinity && magnitude == 0x7f))
      return 0x7fff;
    if (rectified && negative) return 0;
    const auto sign = static_cast<u16>(negative ? 0x8000 : 0);
    if (format.has_infinity) return static_cast<u16>(sign | magnitude << 8);
    const int exponent = magnitude >> 3, digits = exponent == 0 ? magnitude : (magnitude & 7) | 8;
    return sign | half_of_float(std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - 10));
  }
};

// --- the table
template <class T>
std::string name_of() {
  if constexpr (std::is_same_v<T, Half>) return "f16";
  if constexpr (std::is_same_v<T, Bfloat>) return "bf16";
  if constexpr (std::is_floating_point_v<T>) return fmt::format("f{}", 8 * sizeof(T));
  return fmt::format("{}{}", std::is_signed_v<T> ? "s" : "u", 8 * sizeof(T));
}

template <class F>
auto saturated_form(Half) -> SmallSaturated<F>;
template <class F>
auto saturated_form(float) -> Saturate<F>;
template <class F>
auto saturated_form(double) -> Saturate<F>;

//! cvt.rn.f16.f64 and its kin, with .ftz where one side is fp32 and with .sat.
template <class R, class T, Rounding mode>
void add_rounded(ArithmeticTable& table, const std::string& mode_name) {
  using F = RoundTo<R, mode>;
  using Flushed = FlushToZero<F>;
  const std::string head = "cvt" + mode_name, tail = "." + name_of<R>() + "." + name_of<T>();
  constexpr bool flushes = std::is_same_v<R, float> || std::is_same_v<T, float>;
  table.try_emplace(head + tail, rare<F, R, T>());
  table.try_emplace(head + ".sat" + tail, rare<decltype(saturated_form<F>(R{})), R, T>());
  if constexpr (flushes) {
    table.try_emplace(head + ".ftz" + tail, rare<Flushed, R, T>());
    table.try_emplace(head + ".ftz.sat" + tail, rare<decltype(saturated_form<Flushed>(R{})), R, T>());
  }
}

template <class R, class T>
void add_all_roundings(ArithmeticTable& table) {
  add_rounded<R, T, Rounding::nearest>(table, ".rn");
  add_rounded<R, T, Rounding::to_zero>(table, ".rz");
  add_rounded<R, T, Rounding::down>(table, ".rm");
  add_rounded<R, T, Rounding::up>(table, ".rp");
}

//! Where the result holds every operand there is nothing to round, and nothing is written.
template <class R, class T>
void add_exact(ArithmeticTable& table) {
  add_rounded<R, T, Rounding::nearest>(table, "");
}

template <class... T>
void add_from_integers(ArithmeticTable& table) {
  (add_all_roundings<Half, T>(table), ...);
  (add_all_roundings<float, T>(table), ...);
  (add_all_roundings<double, T>(table), ...);
}

template <class R, class... T>
void add_clamped(ArithmeticTable& table) {
  ((table["cvt.sat." + name_of<R>() + "." + name_of<T>()] = rare<ClampInteger<R>, Held<R>, T>()), ...);
}

//! Real numbers that become integers stop at the largest and the smallest anyway: .sat changes nothing.
template <class R, Rounding mode>
void add_to_integer(ArithmeticTable& table, const std::string& mode_name) {
  const std::string to = "." + name_of<R>();
  table["cvt" + mode_name + to + ".f16"] = rare<SmallToInteger<R, mode>, Held<R>, Half>();
  table["cvt" + mode_name + to + ".bf16"] = rare<SmallToInteger<R, mode>, Held<R>, Bfloat>();
  for (const char* from : {".f16", ".bf16", ".f32", ".f64"})
    table["cvt" + mode_name + ".sat" + to + from] = table.at("cvt" + mode_name + to + from);
}

template <class... R>
void add_to_integers(ArithmeticTable& table) {
  (add_to_integer<R, Rounding::nearest>(table, ".rni"), ...);
  (add_to_integer<R, Rounding::to_zero>(table, ".rzi"), ...);
  (add_to_integer<R, Rounding::down>(table, ".rmi"), ...);
  (add_to_integer<R, Rounding::up>(table, ".rpi"), ...);
  (add_clamped<R, i8, u8, i16, u16, i32, u32, i64, u64>(table), ...);
}

template <Rounding mode>
void add_integral_half(ArithmeticTable& table, const std::string& mode_name) {
  table["cvt" + mode_name + ".f16.f16"] = rare<SmallToIntegral<mode>, Half, Half>();
  table["cvt" + mode_name + ".sat.f16.f16"] = rare<SmallSaturated<SmallToIntegral<mode>>, Half, Half>();
}

//! To 16 bits from fp32: with .relu, and two at a time.
template <class R, Rounding mode>
void add_packing(ArithmeticTable& table, const std::string& mode_name) {
  using F = RoundTo<R, mode>;
  const std::string type = name_of<R>();
  table.try_emplace("cvt" + mode_name + "." + type + ".f32", rare<F, R, float>());
  table["cvt" + mode_name + ".relu." + type + ".f32"] = rare<SmallRectified<F>, R, float>();
  table["cvt" + mode_name + "." + type + "x2.f32"] = rare<PackTwo<F>, u32, float, float>();
  table["cvt" + mode_name + ".relu." + type + "x2.f32"] = rare<PackTwo<SmallRectified<F>>, u32, float, float>();
}

template <Format format>
void add_bytes(ArithmeticTable& table, const std::string& type) {
  table["cvt.rn.satfinite." + type + ".f32"] = rare<PackBytes<format, false>, u16, float, float>();
  table["cvt.rn.satfinite.relu." + type + ".f32"] = rare<PackBytes<format, true>, u16, float, float>();
  table["cvt.rn.satfinite." + type + ".f16x2"] = rare<HalvesToBytes<format, false>, u16, u32>();
  table["cvt.rn.satfinite.relu." + type + ".f16x2"] = rare<HalvesToBytes<format, true>, u16, u32>();
  table["cvt.rn.f16x2." + type] = rare<BytesToHalves<format, false>, u32, u16>();
  table["cvt.rn.relu.f16x2." + type] = rare<BytesToHalves<format, true>, u32, u16>();
}

void add_between_reals(ArithmeticTable& table) {
  add_all_roundings<Half, float>(table);
  add_all_roundings<Half, double>(table);
  add_all_roundings<float, double>(table);
  add_exact<float, Half>(table);
  add_exact<double, Half>(table);
  add_exact<double, float>(table);
  add_exact<Half, Half>(table);
  add_exact<float, float>(table);
  add_exact<double, double>(table);
}

void add_tensor_formats(ArithmeticTable& table) {
  add_packing<Half, Rounding::nearest>(table, ".rn");
  add_packing<Half, Rounding::to_zero>(table, ".rz");
  add_packing<Bfloat, Rounding::nearest>(table, ".rn");
  add_packing<Bfloat, Rounding::to_zero>(table, ".rz");
  table["cvt.rna.tf32.f32"] = rare<RoundTo<Tf32, Rounding::nearest_away>, Tf32, float>();
  table["cvt.rn.tf32.f32"] = rare<RoundTo<Tf32, Rounding::nearest>, Tf32, float>();
  table["cvt.rz.tf32.f32"] = rare<RoundTo<Tf32, Rounding::to_zero>, Tf32, float>();
  add_bytes<e4m3_format>(table, "e4m3x2");
  add_bytes<e5m2_format>(table, "e5m2x2");
}

}  // namespace

void add_rounding_conversions(ArithmeticTable& table) {
  add_from_integers<i8, u8, i16, u16, i32, u32, i64, u64>(table);
  add_to_integers<i8, u8, i16, u16, i32, u32, i64, u64>(table);
  add_integral_half<Rounding::nearest>(table, ".rni");
  add_integral_half<Rounding::to_zero>(table, ".rzi");
  add_integral_half<Rounding::down>(table, ".rmi");
  add_integral_half<Rounding::up>(table, ".rpi");
  add_between_reals(table);
  add_tensor_formats(table);
}

}  // namespace cudal1::vgpu
