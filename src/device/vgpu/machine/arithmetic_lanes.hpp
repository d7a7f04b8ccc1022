// Instructions are written for one lane; these templates make handlers of them that do all 32.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device/vgpu/machine/operation.hpp"

// Compiled twice where the host's processor may have wider vectors; which one runs is decided when the table is made.
#if defined(__x86_64__)
#define CUDAL1_WIDE_VECTORS __attribute__((target("avx2,fma")))
#else
#define CUDAL1_WIDE_VECTORS
#endif

namespace cudal1::vgpu {

using ArithmeticTable = std::map<std::string, ArithmeticOpcode>;

// One file each.
void add_integer_arithmetic(ArithmeticTable& table);
void add_bit_arithmetic(ArithmeticTable& table);
void add_real_arithmetic(ArithmeticTable& table);
void add_half_arithmetic(ArithmeticTable& table);
void add_comparisons_and_selections(ArithmeticTable& table);
void add_conversions(ArithmeticTable& table);
void add_rounding_conversions(ArithmeticTable& table);

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline bool host_has_wide_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

//! A predicate as an operand: read from its mask, not from a lane's word.
struct Predicate {};

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, Predicate>)
    return Kind::predicate;
  else if constexpr (std::is_same_v<T, float>)
    return Kind::real32;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::real64;
  else if constexpr (sizeof(T) == 8)
    return Kind::bits64;
  else if constexpr (sizeof(T) == 4)
    return Kind::bits32;
  else
    return Kind::bits16;
}

template <class T>
class Source {
 public:
  Source(Registers& registers, Slot slot) : words_(registers.words<WordOf<T>>(slot)) {}
  T operator[](int lane) const { return from_word<T>(words_[lane]); }

 private:
  const WordOf<T>* words_;
};

template <>
class Source<Predicate> {
 public:
  Source(Registers& registers, Slot slot) : mask_(registers.predicate(slot)) {}
  bool operator[](int lane) const { return (mask_ & lane_bits[static_cast<std::size_t>(lane)]) != 0; }

 private:
  Mask mask_;
};

template <class F, class R, class... A, std::size_t... I>
__attribute__((always_inline)) inline void map_lanes(Registers& registers, const Operation& operation, Mask mask,
                                                     std::index_sequence<I...>) {
  const std::tuple<Source<A>...> sources{Source<A>(registers, operation.operands[I])...};
  WordOf<R>* result = registers.words<WordOf<R>>(operation.result);
  if (mask == full_mask) {
#pragma GCC ivdep
    for (int lane = 0; lane < warp_size; ++lane) result[lane] = to_word<R>(F{}(std::get<I>(sources)[lane]...));
  } else {
#pragma GCC ivdep
    for (int lane = 0; lane < warp_size; ++lane) {
      const WordOf<R> word = to_word<R>(F{}(std::get<I>(sources)[lane]...));
      result[lane] = (mask & lane_bits[static_cast<std::size_t>(lane)]) != 0 ? word : result[lane];
    }
  }
}

//! R = F(A…) in every lane.
template <class F, class R, class... A>
struct ValueHandler {
  static void plain(Registers& registers, const Operation& operation, Mask mask) {
    map_lanes<F, R, A...>(registers, operation, mask, std::index_sequence_for<A...>());
  }
  CUDAL1_WIDE_VECTORS static void wide(Registers& registers, const Operation& operation, Mask mask) {
    map_lanes<F, R, A...>(registers, operation, mask, std::index_sequence_for<A...>());
  }
};

template <class F, class R, class... A>
ArithmeticOpcode value() {
  using Both = ValueHandler<F, R, A...>;
  return {host_has_wide_vectors() ? &Both::wide : &Both::plain, &Both::plain, kind_of<R>(), {kind_of<A>()...}, false};
}

//! The same for what programs seldom have: compiled once.
template <class F, class R, class... A>
ArithmeticOpcode rare() {
  using Both = ValueHandler<F, R, A...>;
  return {&Both::plain, &Both::plain, kind_of<R>(), {kind_of<A>()...}, false};
}

inline void set_predicate(Registers& registers, Slot slot, Mask lanes, Mask mask) {
  Mask& predicate = registers.predicate(slot);
  predicate = (predicate & ~mask) | (lanes & mask);
}

template <class F, class... A, std::size_t... I>
__attribute__((always_inline)) inline void set_where(Registers& registers, const Operation& operation, Mask mask,
                                                     std::index_sequence<I...>) {
  const std::tuple<Source<A>...> sources{Source<A>(registers, operation.operands[I])...};
  Mask found = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    found |= F{}(std::get<I>(sources)[lane]...) ? lane_bits[static_cast<std::size_t>(lane)] : 0;
  if (operation.second_result != 0) set_predicate(registers, operation.second_result, ~found, mask);
  set_predicate(registers, operation.result, found, mask);
}

//! A predicate, and its complement where one is asked for.
template <class F, class... A>
struct TruthHandler {
  static void plain(Registers& registers, const Operation& operation, Mask mask) {
    set_where<F, A...>(registers, operation, mask, std::index_sequence_for<A...>());
  }
  CUDAL1_WIDE_VECTORS static void wide(Registers& registers, const Operation& operation, Mask mask) {
    set_where<F, A...>(registers, operation, mask, std::index_sequence_for<A...>());
  }
};

template <class F, class... A>
ArithmeticOpcode truth() {
  using Both = TruthHandler<F, A...>;
  return {host_has_wide_vectors() ? &Both::wide : &Both::plain, &Both::plain, Kind::predicate, {kind_of<A>()...}, true};
}

// C++ promotes 16-bit operands to int, where their product may overflow: unsigned 32-bit ones wrap.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, u64, u32>;

// --- what integers and real numbers share

struct Copy {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Wide<T>(a) + Wide<T>(b));
    else
      return a + b;
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Wide<T>(a) - Wide<T>(b));
    else
      return a - b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Wide<T>(a) * Wide<T>(b));
    else
      return a * b;
  }
};
//! By zero: all bits one, which is what NVIDIA's compilers make of it; the machine reports it besides.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>)
      return a / b;
    else if (b == 0)
      return static_cast<T>(~T{0});
    else if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Subtract{}(T{0}, a);
    else
      return static_cast<T>(a / b);
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return Subtract{}(T{0}, a);
    else
      return -a;
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? Subtract{}(T{0}, a) : a;
    else
      return std::fabs(a);
  }
};
//! A number beats NaN, and -0 is less than 0.
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return std::min(a, b);
    else if (a == b)
      return std::signbit(a) ? a : b;
    else
      return a < b || b != b ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return std::max(a, b);
    else if (a == b)
      return std::signbit(a) ? b : a;
    else
      return a > b || b != b ? a : b;
  }
};

//! NaN beats every number.
template <class F>
struct NanWins {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : b != b ? b : F{}(a, b);
  }
};
//! .xorsign.abs: of the magnitudes, with the sign that the product would have.
template <class F>
struct WithProductOfSigns {
  template <class T>
  T operator()(T a, T b) const {
    const T magnitude = F{}(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};

//! .ftz, which only fp32 has: what is smaller than any normal number counts as zero, before and after.
inline float flushed(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }
template <class T>
T flushed(T value) {
  return value;
}
template <class F>
struct FlushToZero {
  template <class... T>
  auto operator()(T... operands) const {
    return flushed(F{}(flushed(operands)...));
  }
};
//! .sat: to [0, 1], NaN to 0.
template <class F>
struct Saturate {
  template <class... T>
  auto operator()(T... operands) const {
    using R = decltype(F{}(operands...));
    const R result = F{}(operands...);
    return result > R{0} ? (result < R{1} ? result : R{1}) : R{0};
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

}  // namespace cudal1::vgpu
