// Integers and bits.
#include <algorithm>
#include <bit>

#include "device/vgpu/machine/integer_lanes.hpp"

namespace cudal1::vgpu {
namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class T>
T upper_half(T a, T b) {
  using Product = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, i128, u128>,
                                     std::conditional_t<std::is_signed_v<T>, i64, u64>>;
  return static_cast<T>((Product(a) * Product(b)) >> (8 * sizeof(T)));
}
struct MultiplyUpper {
  template <class T>
  T operator()(T a, T b) const {
    return upper_half(a, b);
  }
};
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Multiply{}(a, b), c);
  }
};
struct MultiplyUpperAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(upper_half(a, b), c);
  }
};
template <class R>
struct MultiplyWideAdd {
  template <class T>
  R operator()(T a, T b, R c) const {
    return Add{}(MultiplyWide<R>{}(a, b), c);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct ExclusiveOr {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
//! Counts beyond the width shift everything out.
struct ShiftLeft {
  template <class T>
  T operator()(T a, u32 count) const {
    return count < 8 * sizeof(T) ? static_cast<T>(Wide<T>(a) << count) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, u32 count) const {
    return static_cast<T>(a >> std::min<u32>(count, 8 * sizeof(T) - 1) >> beyond(count, a));
  }

 private:
  template <class T>
  static u32 beyond(u32 count, T) {
    return !std::is_signed_v<T> && count >= 8 * sizeof(T) ? 1 : 0;
  }
};
struct CountOnes {
  template <class T>
  u32 operator()(T a) const {
    return static_cast<u32>(std::popcount(a));
  }
};
struct CountLeadingZeros {
  template <class T>
  u32 operator()(T a) const {
    return static_cast<u32>(std::countl_zero(a));
  }
};
struct ReverseBits {
  template <class T>
  T operator()(T a) const {
    T reversed = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i) reversed |= ((a >> i) & T{1}) << (8 * sizeof(T) - 1 - i);
    return reversed;
  }
};

// --- the table
using Table = std::map<std::string, ArithmeticOpcode>;

//! So many bits from this position on; beyond the top, zero or the sign.
struct ExtractBits {
  template <class T>
  T operator()(T value, u32 position, u32 length) const {
    const u32 width = 8 * sizeof(T), from = position & 255u, count = length & 255u;
    if (count == 0) return 0;
    const u32 top = std::min(from + count - 1, width - 1);
    const bool negative = std::is_signed_v<T> && (Wide<T>(value) >> top & 1) != 0;
    const Wide<T> bits = from < width ? Wide<T>(value) >> from : 0;
    const u32 kept = from < width ? std::min(count, width - from) : 0;
    const Wide<T> mask = kept >= width ? ~Wide<T>{0} : (Wide<T>{1} << kept) - 1;
    return static_cast<T>((bits & mask) | (negative ? ~mask : Wide<T>{0}));
  }
};

template <class T>
void add_integer(ArithmeticTable& table, const std::string& type) {
  table["add." + type] = value<Add, T, T, T>();
  table["sub." + type] = value<Subtract, T, T, T>();
  table["mul.lo." + type] = value<Multiply, T, T, T>();
  table["mul.hi." + type] = value<MultiplyUpper, T, T, T>();
  table["mad.lo." + type] = value<MultiplyAdd, T, T, T, T>();
  table["mad.hi." + type] = value<MultiplyUpperAdd, T, T, T, T>();
  table["div." + type] = value<Divide, T, T, T>();
  table["rem." + type] = value<Remainder, T, T, T>();
  table["min." + type] = value<Minimum, T, T, T>();
  table["max." + type] = value<Maximum, T, T, T>();
  table["shr." + type] = value<ShiftRight, T, T, u32>();
  if constexpr (std::is_signed_v<T>) {
    table["neg." + type] = value<Negate, T, T>();
    table["abs." + type] = value<Absolute, T, T>();
  }
}

template <class T, class R>
void add_widening(ArithmeticTable& table, const std::string& type) {
  table["mul.wide." + type] = value<MultiplyWide<R>, R, T, T>();
  table["mad.wide." + type] = value<MultiplyWideAdd<R>, R, T, T, R>();
}

template <class T>
void add_bits(ArithmeticTable& table, const std::string& type) {
  table["and." + type] = value<And, T, T, T>();
  table["or." + type] = value<Or, T, T, T>();
  table["xor." + type] = value<ExclusiveOr, T, T, T>();
  table["not." + type] = value<Not, T, T>();
  table["shl." + type] = value<ShiftLeft, T, T, u32>();
  table["shr." + type] = value<ShiftRight, T, T, u32>();
  if constexpr (sizeof(T) >= 4) {
    table["popc." + type] = value<CountOnes, u32, T>();
    table["clz." + type] = value<CountLeadingZeros, u32, T>();
    table["brev." + type] = value<ReverseBits, T, T>();
  }
}

}  // namespace

void add_integer_arithmetic(ArithmeticTable& table) {
  table["bfe.u32"] = value<ExtractBits, u32, u32, u32, u32>();
  table["bfe.s32"] = value<ExtractBits, i32, i32, u32, u32>();
  table["bfe.u64"] = value<ExtractBits, u64, u64, u32, u32>();
  table["bfe.s64"] = value<ExtractBits, i64, i64, u32, u32>();
  add_integer<i16>(table, "s16");
  add_integer<u16>(table, "u16");
  add_integer<i32>(table, "s32");
  add_integer<u32>(table, "u32");
  add_integer<i64>(table, "s64");
  add_integer<u64>(table, "u64");
  add_widening<i16, i32>(table, "s16");
  add_widening<u16, u32>(table, "u16");
  add_widening<i32, i64>(table, "s32");
  add_widening<u32, u64>(table, "u32");
  add_bits<u16>(table, "b16");
  add_bits<u32>(table, "b32");
  add_bits<u64>(table, "b64");
}

}  // namespace cudal1::vgpu
