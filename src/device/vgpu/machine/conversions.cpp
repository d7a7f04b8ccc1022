// cvt between all types that registers hold.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half.hpp"

namespace cudal1::vgpu {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;

template <class R>
struct IntegerToInteger {
  template <class T>
  R operator()(T value) const {
    return static_cast<R>(value);
  }
};

//! Not all results of a narrower type fill their register: 8-bit ones live in 16 bits, extended by their sign.
template <class R>
using Held = std::conditional_t<sizeof(R) != 1, R, std::conditional_t<std::is_signed_v<R>, i16, u16>>;

struct RoundNearest {
  template <class T>
  T operator()(T value) const {
    return std::nearbyint(value);
  }
};
struct RoundToZero {
  template <class T>
  T operator()(T value) const {
    return std::trunc(value);
  }
};
struct RoundDown {
  template <class T>
  T operator()(T value) const {
    return std::floor(value);
  }
};
struct RoundUp {
  template <class T>
  T operator()(T value) const {
    return std::ceil(value);
  }
};

//! Beyond the type: its largest or smallest number. NaN: zero.
template <class R, class Round>
struct RealToInteger {
  template <class T>
  R operator()(T value) const {
    const T rounded = Round{}(value);
    if (rounded != rounded) return 0;
    // Two to the power of the digits is exact in any floating-point type, the largest integer is not.
    const T above = std::ldexp(T{1}, std::numeric_limits<R>::digits);
    if (rounded >= above) return std::numeric_limits<R>::max();
    if (rounded < (std::is_signed_v<R> ? -above : T{0})) return std::numeric_limits<R>::min();
    return static_cast<R>(rounded);
  }
};

template <class R>
struct ToReal {
  template <class T>
  R operator()(T value) const {
    return static_cast<R>(value);
  }
};

struct HalfToFloat {
  float operator()(u16 value) const { return float_of_half(value); }
};
struct FloatToHalf {
  u16 operator()(float value) const { return half_of_float(value); }
};
struct BfloatToFloat {
  float operator()(u16 value) const { return float_of_bfloat(value); }
};
struct FloatToBfloat {
  u16 operator()(float value) const { return bfloat_of_float(value); }
};

template <class T>
std::string integer_name() {
  return fmt::format("{}{}", std::is_signed_v<T> ? "s" : "u", 8 * sizeof(T));
}

template <class R, class T>
void add_integers(ArithmeticTable& table) {
  table["cvt." + integer_name<R>() + "." + integer_name<T>()] = value<IntegerToInteger<R>, Held<R>, T>();
}

template <class R, class... T>
void add_integers_from(ArithmeticTable& table) {
  (add_integers<R, T>(table), ...);
}

template <class R>
void add_to_integer(ArithmeticTable& table) {
  add_integers_from<R, i8, u8, i16, u16, i32, u32, i64, u64>(table);
  const std::string to = "." + integer_name<R>();
  const auto add = [&]<class Round>(const std::string& name, Round) {
    table["cvt" + name + to + ".f32"] = value<RealToInteger<R, Round>, Held<R>, float>();
    table["cvt" + name + to + ".f64"] = value<RealToInteger<R, Round>, Held<R>, double>();
    table["cvt" + name + ".ftz" + to + ".f32"] = rare<FlushToZero<RealToInteger<R, Round>>, Held<R>, float>();
    table["cvt" + name + ".ftz.sat" + to + ".f32"] = table.at("cvt" + name + ".ftz" + to + ".f32");
  };
  add(".rni", RoundNearest{});
  add(".rzi", RoundToZero{});
  add(".rmi", RoundDown{});
  add(".rpi", RoundUp{});
}

template <class T>
void add_from_integer(ArithmeticTable& table) {
  table["cvt.rn.f32." + integer_name<T>()] = value<ToReal<float>, float, T>();
  table["cvt.rn.f64." + integer_name<T>()] = value<ToReal<double>, double, T>();
}

template <class T>
void add_rounding(ArithmeticTable& table, const std::string& type) {
  const auto add = [&]<class Round>(const std::string& name, Round) {
    const std::string types = "." + type + "." + type;
    table["cvt" + name + types] = value<OneNan<Round>, T, T>();
    table["cvt" + name + ".sat" + types] = rare<Saturate<Round>, T, T>();
    if constexpr (std::is_same_v<T, float>) {
      table["cvt" + name + ".ftz" + types] = rare<OneNan<FlushToZero<Round>>, T, T>();
      table["cvt" + name + ".ftz.sat" + types] = rare<Saturate<FlushToZero<Round>>, T, T>();
    }
  };
  add(".rni", RoundNearest{});
  add(".rzi", RoundToZero{});
  add(".rmi", RoundDown{});
  add(".rpi", RoundUp{});
}

template <class... T>
void add_integer_types(ArithmeticTable& table) {
  (add_to_integer<T>(table), ...);
  (add_from_integer<T>(table), ...);
}

}  // namespace

void add_conversions(ArithmeticTable& table) {
  add_integer_types<i8, u8, i16, u16, i32, u32, i64, u64>(table);
  add_rounding<float>(table, "f32");
  add_rounding<double>(table, "f64");
  table["cvt.f64.f32"] = value<ToReal<double>, double, float>();
  table["cvt.rn.f32.f64"] = value<OneNan<ToReal<float>>, float, double>();
  table["cvt.f32.f16"] = value<HalfToFloat, float, u16>();
  table["cvt.rn.f16.f32"] = value<FloatToHalf, u16, float>();
  table["cvt.f32.bf16"] = value<OneNan<BfloatToFloat>, float, u16>();
  table["cvt.rn.bf16.f32"] = value<FloatToBfloat, u16, float>();
}

}  // namespace cudal1::vgpu
