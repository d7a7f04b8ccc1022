// Every arithmetic instruction, by its full PTX name.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "device/vgpu/machine/operation.hpp"

namespace cudal1::vgpu {
namespace {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

// --- from one lane to all of them

constexpr std::array<Mask, warp_size> lane_bits = [] {
  std::array<Mask, warp_size> bits{};
  for (int i = 0; i < warp_size; ++i) bits[static_cast<std::size_t>(i)] = Mask{1} << i;
  return bits;
}();

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
void map_lanes(Registers& registers, const Operation& operation, Mask mask, std::index_sequence<I...>) {
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
ArithmeticOpcode value() {
  return {[](Registers& registers, const Operation& operation, Mask mask) {
            map_lanes<F, R, A...>(registers, operation, mask, std::index_sequence_for<A...>());
          },
          kind_of<R>(),
          {kind_of<A>()...},
          false};
}

template <class F, class... A, std::size_t... I>
Mask lanes_where(Registers& registers, const Operation& operation, std::index_sequence<I...>) {
  const std::tuple<Source<A>...> sources{Source<A>(registers, operation.operands[I])...};
  Mask found = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    found |= F{}(std::get<I>(sources)[lane]...) ? lane_bits[static_cast<std::size_t>(lane)] : 0;
  return found;
}

void set_predicate(Registers& registers, Slot slot, Mask lanes, Mask mask) {
  Mask& predicate = registers.predicate(slot);
  predicate = (predicate & ~mask) | (lanes & mask);
}

//! A predicate, and its complement where one is asked for.
template <class F, class... A>
ArithmeticOpcode truth() {
  return {[](Registers& registers, const Operation& operation, Mask mask) {
            const Mask lanes = lanes_where<F, A...>(registers, operation, std::index_sequence_for<A...>());
            if (operation.second_result != 0) set_predicate(registers, operation.second_result, ~lanes, mask);
            set_predicate(registers, operation.result, lanes, mask);
          },
          Kind::predicate,
          {kind_of<A>()...},
          true};
}

// --- what happens in a lane

// C++ promotes 16-bit operands to int, where their product may overflow: unsigned 32-bit ones wrap.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, u64, u32>;

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
template <class R>
struct MultiplyWide {
  template <class T>
  R operator()(T a, T b) const {
    return static_cast<R>(R(a) * R(b));
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
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
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
struct FusedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
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
struct Copy {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
struct Select {
  template <class T>
  T operator()(T a, T b, bool first) const {
    return first ? a : b;
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

// --- comparisons; `u` forms are also true for NaN
template <class Compare, bool unordered>
struct Comparison {
  template <class T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a || b != b) return unordered;
    return Compare{}(a, b);
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
template <class Compare>
struct Swapped {
  template <class T>
  bool operator()(T a, T b) const {
    return Compare{}(b, a);
  }
};
struct Unequal {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct BothNumbers {
  template <class T>
  bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
struct AnyNan {
  template <class T>
  bool operator()(T a, T b) const {
    return a != a || b != b;
  }
};
template <class Compare, class Combine>
struct Combined {
  template <class T>
  bool operator()(T a, T b, bool c) const {
    return Combine{}(Compare{}(a, b), c);
  }
};
struct AndTruth {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct OrTruth {
  bool operator()(bool a, bool b) const { return a || b; }
};
struct XorTruth {
  bool operator()(bool a, bool b) const { return a != b; }
};
struct NotTruth {
  bool operator()(bool a) const { return !a; }
};
struct CopyTruth {
  bool operator()(bool a) const { return a; }
};

// --- the table
using Table = std::map<std::string, ArithmeticOpcode>;

template <class T>
void add_integer(Table& table, const std::string& type) {
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
void add_widening(Table& table, const std::string& type) {
  table["mul.wide." + type] = value<MultiplyWide<R>, R, T, T>();
  table["mad.wide." + type] = value<MultiplyWideAdd<R>, R, T, T, R>();
}

template <class T>
void add_bits(Table& table, const std::string& type) {
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

//! In the device's default rounding, to nearest, which is also the host's.
template <class T>
void add_real(Table& table, const std::string& type) {
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

template <class T>
void add_moves(Table& table, const std::string& type) {
  table["mov." + type] = value<Copy, T, T>();
  table["selp." + type] = value<Select, T, T, T, Predicate>();
}

template <class T, class Compare>
void add_comparison(Table& table, const std::string& name, const std::string& type) {
  table["setp." + name + "." + type] = truth<Compare, T, T>();
  table["setp." + name + ".and." + type] = truth<Combined<Compare, AndTruth>, T, T, Predicate>();
  table["setp." + name + ".or." + type] = truth<Combined<Compare, OrTruth>, T, T, Predicate>();
  table["setp." + name + ".xor." + type] = truth<Combined<Compare, XorTruth>, T, T, Predicate>();
}

template <class T>
void add_comparisons(Table& table, const std::string& type) {
  add_comparison<T, Comparison<Equal, false>>(table, "eq", type);
  add_comparison<T, Comparison<Unequal, false>>(table, "ne", type);
  if (type.starts_with("b")) return;
  add_comparison<T, Comparison<Less, false>>(table, "lt", type);
  add_comparison<T, Comparison<LessOrEqual, false>>(table, "le", type);
  add_comparison<T, Comparison<Swapped<Less>, false>>(table, "gt", type);
  add_comparison<T, Comparison<Swapped<LessOrEqual>, false>>(table, "ge", type);
  if constexpr (std::is_unsigned_v<T>) {  // other names for the same
    add_comparison<T, Less>(table, "lo", type);
    add_comparison<T, LessOrEqual>(table, "ls", type);
    add_comparison<T, Swapped<Less>>(table, "hi", type);
    add_comparison<T, Swapped<LessOrEqual>>(table, "hs", type);
  }
  if constexpr (std::is_floating_point_v<T>) {
    add_comparison<T, Comparison<Equal, true>>(table, "equ", type);
    add_comparison<T, Comparison<Unequal, true>>(table, "neu", type);
    add_comparison<T, Comparison<Less, true>>(table, "ltu", type);
    add_comparison<T, Comparison<LessOrEqual, true>>(table, "leu", type);
    add_comparison<T, Comparison<Swapped<Less>, true>>(table, "gtu", type);
    add_comparison<T, Comparison<Swapped<LessOrEqual>, true>>(table, "geu", type);
    add_comparison<T, BothNumbers>(table, "num", type);
    add_comparison<T, AnyNan>(table, "nan", type);
  }
}

template <class T>
void add_moves_and_comparisons(Table& table, const std::string& type) {
  add_moves<T>(table, type);
  add_comparisons<T>(table, type);
}

void add_predicates(Table& table) {
  table["and.pred"] = truth<AndTruth, Predicate, Predicate>();
  table["or.pred"] = truth<OrTruth, Predicate, Predicate>();
  table["xor.pred"] = truth<XorTruth, Predicate, Predicate>();
  table["not.pred"] = truth<NotTruth, Predicate>();
  table["mov.pred"] = truth<CopyTruth, Predicate>();
}

Table make_table() {
  Table table;
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
  add_real<float>(table, "f32");
  add_real<double>(table, "f64");
  add_moves_and_comparisons<u16>(table, "b16");
  add_moves_and_comparisons<u16>(table, "u16");
  add_moves_and_comparisons<i16>(table, "s16");
  add_moves_and_comparisons<u32>(table, "b32");
  add_moves_and_comparisons<u32>(table, "u32");
  add_moves_and_comparisons<i32>(table, "s32");
  add_moves_and_comparisons<u64>(table, "b64");
  add_moves_and_comparisons<u64>(table, "u64");
  add_moves_and_comparisons<i64>(table, "s64");
  add_moves_and_comparisons<float>(table, "f32");
  add_moves_and_comparisons<double>(table, "f64");
  add_predicates(table);
  return table;
}

const Table& table() {
  static const Table made = make_table();
  return made;
}

}  // namespace

const ArithmeticOpcode* find_arithmetic(const std::string& full_opcode) {
  const auto found = table().find(full_opcode);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> arithmetic_opcodes() {
  std::vector<std::string> names;
  for (const auto& [name, opcode] : table()) names.push_back(name);
  return names;
}

}  // namespace cudal1::vgpu
