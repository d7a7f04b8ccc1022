// Arithmetic in half precision and bfloat16, one number or two in a register.
#include <fmt/format.h>

#include <cmath>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half_modifiers.hpp"
#include "device/vgpu/machine/rounding.hpp"

namespace cudal1::vgpu {
namespace {

// Every operation is done in double and rounded once more to 16 bits. That is what one rounding gives: products have
// at most 22 digits and are exact; sums are made to odd, so that the second rounding sees on which side of a tie the
// exact one lies (a sum alone would be safe without: 53 digits are more than twice 11 and two).
struct SmallAdd {
  template <class T>
  T operator()(T a, T b) const {
    return T::nearest(static_cast<double>(a.as_float()) + static_cast<double>(b.as_float()));
  }
};
struct SmallSubtract {
  template <class T>
  T operator()(T a, T b) const {
    return T::nearest(static_cast<double>(a.as_float()) - static_cast<double>(b.as_float()));
  }
};
struct SmallMultiply {
  template <class T>
  T operator()(T a, T b) const {
    return T::nearest(static_cast<double>(a.as_float()) * static_cast<double>(b.as_float()));
  }
};
struct SmallMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return T::nearest(sum_to_odd(static_cast<double>(a.as_float()) * static_cast<double>(b.as_float()), c.as_float()));
  }
};
struct SmallNegate {
  template <class T>
  T operator()(T a) const {
    return {static_cast<u16>(a.bits ^ 0x8000u)};
  }
};
struct SmallAbsolute {
  template <class T>
  T operator()(T a) const {
    return {static_cast<u16>(a.bits & 0x7fffu)};
  }
};
template <class F>
struct SmallExtreme {
  template <class T>
  T operator()(T a, T b) const {
    return T::exactly(F{}(a.as_float(), b.as_float()));
  }
};
//! .xorsign.abs, by the bits: NaN has a sign too, and it counts.
template <class F>
struct SmallSignedExtreme {
  template <class T>
  T operator()(T a, T b) const {
    const T magnitude = SmallExtreme<F>{}(SmallAbsolute{}(a), SmallAbsolute{}(b));
    const bool is_nan = magnitude.bits > T::infinity;
    return {static_cast<u16>(is_nan ? magnitude.bits : magnitude.bits | ((a.bits ^ b.bits) & 0x8000u))};
  }
};
struct SmallPowerOfTwo {
  template <class T>
  T operator()(T a) const {
    return T::nearest(std::exp2(static_cast<double>(a.as_float())));
  }
};
struct SmallTanh {
  template <class T>
  T operator()(T a) const {
    return T::nearest(std::tanh(static_cast<double>(a.as_float())));
  }
};

//! The same on both halves of a word.
template <class F, class T>
struct OnBoth {
  template <class... Word>
  u32 operator()(Word... words) const {
    const u32 low = F{}(T{static_cast<u16>(words)}...).bits;
    return low | u32{F{}(T{static_cast<u16>(words >> 16)}...).bits} << 16;
  }
};

template <class T>
using WordFor = u32;

template <class T>
const char* type_name() {
  return std::is_same_v<T, Half> ? "f16" : "bf16";
}

//! name.f16 and name.f16x2, of as many operands as there are Ts.
template <class F, class T, class... More>
void add_both(ArithmeticTable& table, const std::string& name) {
  table[fmt::format("{}.{}", name, type_name<T>())] = value<F, T, T, More...>();
  table[fmt::format("{}.{}x2", name, type_name<T>())] = value<OnBoth<F, T>, u32, u32, WordFor<More>...>();
}

template <class F, class T, class... More>
void add_flushing(ArithmeticTable& table, const std::string& name) {
  add_both<F, T, More...>(table, name);
  if constexpr (std::is_same_v<T, Half>) add_both<SmallFlushed<F>, T, More...>(table, name + ".ftz");
}

template <class F, class T>
void add_sum_or_product(ArithmeticTable& table, const std::string& name) {
  for (const char* rounding : {"", ".rn"}) {
    add_flushing<F, T, T>(table, name + rounding);
    if constexpr (std::is_same_v<T, Half>) {
      add_both<SmallSaturated<F>, T, T>(table, name + rounding + ".sat");
      add_both<SmallSaturated<SmallFlushed<F>>, T, T>(table, name + rounding + ".ftz.sat");
    }
  }
}

template <class T>
void add_multiply_add(ArithmeticTable& table) {
  using F = SmallMultiplyAdd;
  add_flushing<F, T, T, T>(table, "fma.rn");
  add_both<SmallRectified<F>, T, T, T>(table, "fma.rn.relu");
  if constexpr (std::is_same_v<T, Half>) {
    add_both<SmallRectified<SmallFlushed<F>>, T, T, T>(table, "fma.rn.ftz.relu");
    add_both<SmallSaturated<F>, T, T, T>(table, "fma.rn.sat");
    add_both<SmallSaturated<SmallFlushed<F>>, T, T, T>(table, "fma.rn.ftz.sat");
  }
}

template <class F, class T>
void add_extreme(ArithmeticTable& table, const std::string& name) {
  const auto add = [&]<class G>(const std::string& modifiers, G) {
    add_both<G, T, T>(table, name + modifiers);
    if constexpr (std::is_same_v<T, Half>) add_both<SmallFlushed<G>, T, T>(table, name + ".ftz" + modifiers);
  };
  add("", SmallExtreme<F>{});
  add(".NaN", SmallExtreme<NanWins<F>>{});
  add(".xorsign.abs", SmallSignedExtreme<F>{});
  add(".NaN.xorsign.abs", SmallSignedExtreme<NanWins<F>>{});
}

template <class T>
void add_small(ArithmeticTable& table) {
  add_sum_or_product<SmallAdd, T>(table, "add");
  add_sum_or_product<SmallSubtract, T>(table, "sub");
  add_sum_or_product<SmallMultiply, T>(table, "mul");
  add_multiply_add<T>(table);
  add_flushing<SmallNegate, T>(table, "neg");
  add_flushing<SmallAbsolute, T>(table, "abs");
  add_extreme<Minimum, T>(table, "min");
  add_extreme<Maximum, T>(table, "max");
  add_both<SmallTanh, T>(table, "tanh.approx");
}

}  // namespace

void add_half_arithmetic(ArithmeticTable& table) {
  add_small<Half>(table);
  add_small<Bfloat>(table);
  add_both<SmallPowerOfTwo, Half>(table, "ex2.approx");
  add_both<SmallFlushed<SmallPowerOfTwo>, Bfloat>(table, "ex2.approx.ftz");
}

}  // namespace cudal1::vgpu
