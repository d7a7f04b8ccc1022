// Floating-point numbers in 32 and 64 bits.
#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half.hpp"

namespace cudal1::vgpu {
namespace {

struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
// The device's approximations are off by up to 2 ulp; these are as good as fp64 rounded once.
struct ReciprocalSquareRoot {
  float operator()(float a) const { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
};
struct PowerOfTwo {
  float operator()(float a) const { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct LogarithmToTwo {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct Sine {
  float operator()(float a) const { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  float operator()(float a) const { return static_cast<float>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  float operator()(float a) const { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};
struct FusedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
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
  table["sqrt.rn." + type] = value<OneNan<SquareRoot>, T, T>();
  table["rcp.rn." + type] = value<OneNan<Reciprocal>, T, T>();
  table["min." + type] = value<OneNan<Minimum>, T, T, T>();
  table["max." + type] = value<OneNan<Maximum>, T, T, T>();
  table["neg." + type] = value<Negate, T, T>();
  table["abs." + type] = value<Absolute, T, T>();
}

//! NaN beats every number.
template <class F>
struct NanWins {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : b != b ? b : F{}(a, b);
  }
};

// With 24 bits in between, rounding twice gives what rounding once to 11 does.
template <class F>
struct InHalf {
  u16 operator()(u16 a, u16 b) const { return half_of_float(F{}(float_of_half(a), float_of_half(b))); }
};

template <class F>
void add_approximation(ArithmeticTable& table, const std::string& name) {
  table[name + ".approx.f32"] = value<OneNan<F>, float, float>();
}

}  // namespace

void add_real_arithmetic(ArithmeticTable& table) {
  add_approximation<Reciprocal>(table, "rcp");
  add_approximation<SquareRoot>(table, "sqrt");
  add_approximation<ReciprocalSquareRoot>(table, "rsqrt");
  add_approximation<PowerOfTwo>(table, "ex2");
  add_approximation<LogarithmToTwo>(table, "lg2");
  add_approximation<Sine>(table, "sin");
  add_approximation<Cosine>(table, "cos");
  add_approximation<HyperbolicTangent>(table, "tanh");
  for (const char* rounding : {"approx", "full"})
    table[std::string("div.") + rounding + ".f32"] = value<OneNan<Divide>, float, float, float>();
  table["min.NaN.f32"] = value<OneNan<NanWins<Minimum>>, float, float, float>();
  table["max.NaN.f32"] = value<OneNan<NanWins<Maximum>>, float, float, float>();
  for (const std::string rounding : {"", "rn."}) {
    table["add." + rounding + "f16"] = value<InHalf<Add>, u16, u16, u16>();
    table["sub." + rounding + "f16"] = value<InHalf<Subtract>, u16, u16, u16>();
    table["mul." + rounding + "f16"] = value<InHalf<Multiply>, u16, u16, u16>();
  }
  add_real<float>(table, "f32");
  add_real<double>(table, "f64");
}

}  // namespace cudal1::vgpu
