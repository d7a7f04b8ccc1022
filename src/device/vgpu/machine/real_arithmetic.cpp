// Floating-point numbers in 32 and 64 bits.
#include <cfenv>
#include <cmath>
#include <limits>
#include <numbers>

#include "device/vgpu/machine/arithmetic_lanes.hpp"

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
//! An angle in turns as the device has it: multiplied by fp32's 1 / (2 pi) and cut off to fp32. What is lost here grows
//! with the angle, and is most of the error of large ones.
double turns_of(float radians) {
  constexpr double turns_per_radian = 0.15915494f;
  const double exact = radians * turns_per_radian;  // 24 digits times 24
  const auto rounded = static_cast<float>(exact);
  return std::fabs(rounded) > std::fabs(exact) ? std::nextafter(rounded, 0.0f) : rounded;
}
//! Of so many turns and quarters of a turn. Exact where it is 0 or 1, since what is left of a turn is.
double sine_of_turns(double turns, int quarters) {
  if (!std::isfinite(turns)) return std::numeric_limits<double>::quiet_NaN();
  const double nearest = std::nearbyint(4 * turns);
  const double angle = 2 * std::numbers::pi * (turns - nearest / 4);
  const int quadrant = (static_cast<int>(std::fmod(nearest, 4.0)) + quarters) & 3;
  const double value = quadrant % 2 == 0 ? std::sin(angle) : std::cos(angle);
  return quadrant < 2 ? value : -value;
}
struct Sine {
  float operator()(float a) const {
    const double sine = sine_of_turns(turns_of(a), 0);
    return sine == 0.0 ? std::copysign(0.0f, a) : static_cast<float>(sine);
  }
};
struct Cosine {
  float operator()(float a) const { return static_cast<float>(sine_of_turns(turns_of(a), 1) + 0.0); }  // no -0
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

//! In two to the 126 and beyond the reciprocal is gone before it is multiplied, as PTX has it.
struct ApproximateDivide {
  float operator()(float a, float b) const {
    const float magnitude = std::fabs(b);
    const bool lost = magnitude > 0x1p126f && magnitude < std::numeric_limits<float>::infinity();
    return lost ? a * std::copysign(0.0f, b) : a / b;
  }
};
//! The sign of the first and the magnitude of the second.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

struct IsFinite {
  template <class T>
  bool operator()(T a) const {
    return std::isfinite(a);
  }
};
struct IsInfinite {
  template <class T>
  bool operator()(T a) const {
    return std::isinf(a);
  }
};
struct IsNumber {
  template <class T>
  bool operator()(T a) const {
    return a == a;
  }
};
struct IsNoNumber {
  template <class T>
  bool operator()(T a) const {
    return a != a;
  }
};
struct IsNormal {
  template <class T>
  bool operator()(T a) const {
    return std::isnormal(a);
  }
};
struct IsSubnormal {
  template <class T>
  bool operator()(T a) const {
    return a != 0 && std::fabs(a) < std::numeric_limits<T>::min();
  }
};

// --- rounding other than to nearest: the host's own, set while one instruction runs
template <int mode, class F, class R, class... A>
struct DirectedHandler {
  static void run(Registers& registers, const Operation& operation, Mask mask) {
    // Through a pointer that the compiler cannot see through: it must not move arithmetic across the change.
    volatile const Handler in_every_lane = &ValueHandler<F, R, A...>::plain;
    std::fesetround(mode);
    in_every_lane(registers, operation, mask);
    std::fesetround(FE_TONEAREST);
  }
};

template <int mode, class F, class R, class... A>
ArithmeticOpcode directed() {
  const Handler run = &DirectedHandler<mode, F, R, A...>::run;
  return {run, run, kind_of<R>(), {kind_of<A>()...}, false};
}

//! name.rn, .rz, .rm and .rp, with what follows.
template <class F, class R, class... A>
void add_all_roundings(ArithmeticTable& table, const std::string& name, const std::string& rest) {
  table[name + ".rn" + rest] = value<OneNan<F>, R, A...>();
  table[name + ".rz" + rest] = directed<FE_TOWARDZERO, OneNan<F>, R, A...>();
  table[name + ".rm" + rest] = directed<FE_DOWNWARD, OneNan<F>, R, A...>();
  table[name + ".rp" + rest] = directed<FE_UPWARD, OneNan<F>, R, A...>();
}

//! With .ftz, and with .sat where asked for.
template <class F, bool saturating, class... A>
void add_single(ArithmeticTable& table, const std::string& name) {
  add_all_roundings<F, float, A...>(table, name, ".f32");
  add_all_roundings<FlushToZero<F>, float, A...>(table, name, ".ftz.f32");
  if constexpr (saturating) {
    add_all_roundings<Saturate<F>, float, A...>(table, name, ".sat.f32");
    add_all_roundings<Saturate<FlushToZero<F>>, float, A...>(table, name, ".ftz.sat.f32");
  }
}

//! The rounding may be left out, and is to nearest then.
void add_without_rounding(ArithmeticTable& table, const std::string& name) {
  for (const char* rest : {".f32", ".ftz.f32", ".sat.f32", ".ftz.sat.f32", ".f64"})
    table[name + rest] = table.at(name + ".rn" + rest);
}

void add_sums_and_products(ArithmeticTable& table) {
  add_single<Add, true, float, float>(table, "add");
  add_single<Subtract, true, float, float>(table, "sub");
  add_single<Multiply, true, float, float>(table, "mul");
  add_all_roundings<Add, double, double, double>(table, "add", ".f64");
  add_all_roundings<Subtract, double, double, double>(table, "sub", ".f64");
  add_all_roundings<Multiply, double, double, double>(table, "mul", ".f64");
  for (const char* name : {"add", "sub", "mul"}) add_without_rounding(table, name);
  for (const char* name : {"fma", "mad"}) {  // the same since sm_20
    add_single<FusedMultiplyAdd, true, float, float, float>(table, name);
    add_all_roundings<FusedMultiplyAdd, double, double, double, double>(table, name, ".f64");
  }
}

void add_quotients_and_roots(ArithmeticTable& table) {
  add_single<Divide, false, float, float>(table, "div");
  add_single<SquareRoot, false, float>(table, "sqrt");
  add_single<Reciprocal, false, float>(table, "rcp");
  add_all_roundings<Divide, double, double, double>(table, "div", ".f64");
  add_all_roundings<SquareRoot, double, double>(table, "sqrt", ".f64");
  add_all_roundings<Reciprocal, double, double>(table, "rcp", ".f64");
}

template <class T>
void add_signs_and_tests(ArithmeticTable& table, const std::string& type) {
  table["neg." + type] = value<Negate, T, T>();
  table["abs." + type] = value<Absolute, T, T>();
  table["copysign." + type] = value<CopySign, T, T, T>();
  table["testp.finite." + type] = truth<IsFinite, T>();
  table["testp.infinite." + type] = truth<IsInfinite, T>();
  table["testp.number." + type] = truth<IsNumber, T>();
  table["testp.notanumber." + type] = truth<IsNoNumber, T>();
  table["testp.normal." + type] = truth<IsNormal, T>();
  table["testp.subnormal." + type] = truth<IsSubnormal, T>();
}

template <class F>
void add_extreme(ArithmeticTable& table, const std::string& name) {
  const auto add = [&]<class G>(const std::string& modifiers, G) {
    table[name + modifiers + ".f32"] = value<OneNan<G>, float, float, float>();
    table[name + ".ftz" + modifiers + ".f32"] = value<OneNan<FlushToZero<G>>, float, float, float>();
  };
  add("", F{});
  add(".NaN", NanWins<F>{});
  add(".xorsign.abs", WithProductOfSigns<F>{});
  add(".NaN.xorsign.abs", WithProductOfSigns<NanWins<F>>{});
  table[name + ".f64"] = value<F, double, double, double>();
}

template <class F, class... A>
void add_approximation(ArithmeticTable& table, const std::string& name) {
  table[name + ".f32"] = value<OneNan<F>, float, A...>();
  table[name + ".ftz.f32"] = value<OneNan<FlushToZero<F>>, float, A...>();
}

void add_approximations(ArithmeticTable& table) {
  add_approximation<Reciprocal, float>(table, "rcp.approx");
  add_approximation<SquareRoot, float>(table, "sqrt.approx");
  add_approximation<ReciprocalSquareRoot, float>(table, "rsqrt.approx");
  add_approximation<PowerOfTwo, float>(table, "ex2.approx");
  add_approximation<LogarithmToTwo, float>(table, "lg2.approx");
  add_approximation<Sine, float>(table, "sin.approx");
  add_approximation<Cosine, float>(table, "cos.approx");
  add_approximation<ApproximateDivide, float, float>(table, "div.approx");
  add_approximation<Divide, float, float>(table, "div.full");
  table["tanh.approx.f32"] = value<OneNan<HyperbolicTangent>, float, float>();
}

}  // namespace

void add_real_arithmetic(ArithmeticTable& table) {
  add_sums_and_products(table);
  add_quotients_and_roots(table);
  add_signs_and_tests<float>(table, "f32");
  add_signs_and_tests<double>(table, "f64");
  table["neg.ftz.f32"] = value<FlushToZero<Negate>, float, float>();
  table["abs.ftz.f32"] = value<FlushToZero<Absolute>, float, float>();
  add_extreme<Minimum>(table, "min");
  add_extreme<Maximum>(table, "max");
  add_approximations(table);
}

}  // namespace cudal1::vgpu
