// Moves, selections, comparisons and the arithmetic of predicates.
#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half_modifiers.hpp"

namespace cudal1::vgpu {
namespace {

struct Select {
  template <class T>
  T operator()(T a, T b, bool first) const {
    return first ? a : b;
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
template <class Compare>
struct Flushing {
  template <class T>
  bool operator()(T a, T b) const {
    return Compare{}(flushed(a), flushed(b));
  }
};
//! Of 16-bit floating-point numbers, which fp32 holds exactly.
template <class Compare, bool flushing>
struct OfSmall {
  template <class T>
  bool operator()(T a, T b) const {
    if (flushing) return Compare{}(without_subnormal(a).as_float(), without_subnormal(b).as_float());
    return Compare{}(a.as_float(), b.as_float());
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

template <class T>
void add_moves(ArithmeticTable& table, const std::string& type) {
  table["mov." + type] = value<Copy, T, T>();
  table["selp." + type] = value<Select, T, T, T, Predicate>();
}

// --- where a comparison holds: found once, whatever is then done with it
using MaskOf = Mask (*)(Registers& registers, const Operation& operation);

template <class Compare, class T>
__attribute__((always_inline)) inline Mask compare_lanes(Registers& registers, const Operation& operation) {
  const Source<T> a(registers, operation.operands[0]), b(registers, operation.operands[1]);
  Mask found = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    found |= Compare{}(a[lane], b[lane]) ? lane_bits[static_cast<std::size_t>(lane)] : 0;
  return found;
}
template <class Compare, class T>
__attribute__((noinline)) Mask where_plain(Registers& registers, const Operation& operation) {
  return compare_lanes<Compare, T>(registers, operation);
}
template <class Compare, class T>
CUDAL1_WIDE_VECTORS __attribute__((noinline)) Mask where_wide(Registers& registers, const Operation& operation) {
  return compare_lanes<Compare, T>(registers, operation);
}
//! Of the lower or the upper one of two numbers in a register.
template <class Compare, class T, int shift>
__attribute__((noinline)) Mask where_half(Registers& registers, const Operation& operation) {
  const u32 *a = registers.words<u32>(operation.operands[0]), *b = registers.words<u32>(operation.operands[1]);
  Mask found = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    found |= Mask{Compare{}(T{static_cast<u16>(a[lane] >> shift)}, T{static_cast<u16>(b[lane] >> shift)})} << lane;
  return found;
}

// --- setp
enum class Combine { nothing, with_and, with_or, with_xor };

template <Combine combine>
Mask combined(Mask found, Registers& registers, const Operation& operation) {
  switch (combine) {
    case Combine::with_and:
      return found & registers.predicate(operation.operands[2]);
    case Combine::with_or:
      return found | registers.predicate(operation.operands[2]);
    case Combine::with_xor:
      return found ^ registers.predicate(operation.operands[2]);
    case Combine::nothing:
      break;
  }
  return found;
}

//! A predicate and its complement.
template <MaskOf where, Combine combine>
void set_truth(Registers& registers, const Operation& operation, Mask mask) {
  const Mask found = combined<combine>(where(registers, operation), registers, operation);
  if (operation.second_result != 0) set_predicate(registers, operation.second_result, ~found, mask);
  set_predicate(registers, operation.result, found, mask);
}
//! One predicate for each of two numbers.
template <MaskOf low, MaskOf high, Combine combine>
void set_both(Registers& registers, const Operation& operation, Mask mask) {
  const Mask first = combined<combine>(low(registers, operation), registers, operation);
  const Mask second = combined<combine>(high(registers, operation), registers, operation);
  if (operation.second_result != 0) set_predicate(registers, operation.second_result, second, mask);
  set_predicate(registers, operation.result, first, mask);
}

template <Combine combine>
std::vector<Kind> operands_of_setp(Kind kind) {
  if (combine == Combine::nothing) return {kind, kind};
  return {kind, kind, Kind::predicate};
}

template <class T, class Compare, Combine combine>
ArithmeticOpcode setp() {
  const Handler plain = &set_truth<&where_plain<Compare, T>, combine>;
  Handler run = plain;
  if constexpr (std::is_arithmetic_v<T>)
    if (host_has_wide_vectors()) run = &set_truth<&where_wide<Compare, T>, combine>;
  return {run, plain, Kind::predicate, operands_of_setp<combine>(kind_of<T>()), true};
}

template <class T, class Compare, Combine combine>
ArithmeticOpcode packed_setp() {
  const Handler run = &set_both<&where_half<Compare, T, 0>, &where_half<Compare, T, 16>, combine>;
  return {run, run, Kind::predicate, operands_of_setp<combine>(Kind::bits32), true};
}

template <class T, class Compare>
void add_setp(ArithmeticTable& table, const std::string& name, const std::string& type) {
  table["setp." + name + type] = setp<T, Compare, Combine::nothing>();
  table["setp." + name + ".and" + type] = setp<T, Compare, Combine::with_and>();
  table["setp." + name + ".or" + type] = setp<T, Compare, Combine::with_or>();
  table["setp." + name + ".xor" + type] = setp<T, Compare, Combine::with_xor>();
}

template <class T, class Compare>
void add_packed_setp(ArithmeticTable& table, const std::string& name, const std::string& type) {
  table["setp." + name + type] = packed_setp<T, Compare, Combine::nothing>();
  table["setp." + name + ".and" + type] = packed_setp<T, Compare, Combine::with_and>();
  table["setp." + name + ".or" + type] = packed_setp<T, Compare, Combine::with_or>();
  table["setp." + name + ".xor" + type] = packed_setp<T, Compare, Combine::with_xor>();
}

// --- set: a register full of ones, or 1.0, where the comparison holds
void write_where(Registers& registers, const Operation& operation, Mask mask, Mask found, u32 bits) {
  u32* result = registers.words<u32>(operation.result);
  for (Mask lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    result[lane] = (found >> lane & 1) != 0 ? bits : 0;
  }
}
template <MaskOf where, u32 bits>
void set_bits(Registers& registers, const Operation& operation, Mask mask) {
  write_where(registers, operation, mask, where(registers, operation), bits);
}
template <class Compare, class T>
struct SetBoth {
  u32 operator()(u32 a, u32 b) const { return part(a, b, 0) | part(a, b, 16) << 16; }

 private:
  static u32 part(u32 a, u32 b, u32 shift) {
    return Compare{}(T{static_cast<u16>(a >> shift)}, T{static_cast<u16>(b >> shift)}) ? T::one : 0u;
  }
};

template <class T, class Compare, u32 bits>
ArithmeticOpcode set(Kind result) {
  const Handler run = &set_bits<&where_plain<Compare, T>, bits>;
  return {run, run, result, {kind_of<T>(), kind_of<T>()}, false};
}

template <class T, class Compare>
void add_set(ArithmeticTable& table, const std::string& name, const std::string& flush, const std::string& type) {
  const std::string head = "set." + name + flush;
  table[head + ".u32" + type] = set<T, Compare, ~u32{0}>(Kind::bits32);
  table[head + ".s32" + type] = table.at(head + ".u32" + type);
  table[head + ".f32" + type] = set<T, Compare, 0x3f800000u>(Kind::real32);
}

template <class T, class Compare>
void add_small_comparison(ArithmeticTable& table, const std::string& name, const std::string& flush) {
  const std::string type = std::is_same_v<T, Half> ? ".f16" : ".bf16", packed = type + "x2";
  add_setp<T, Compare>(table, name, flush + type);
  add_packed_setp<T, Compare>(table, name, flush + packed);
  add_set<T, Compare>(table, name, flush, type);
  table["set." + name + flush + type + type] = set<T, Compare, T::one>(Kind::bits16);
  table["set." + name + flush + packed + packed] = rare<SetBoth<Compare, T>, u32, u32, u32>();
}

template <class T, class Compare>
void add_comparison(ArithmeticTable& table, const std::string& name, const std::string& type) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    add_small_comparison<T, OfSmall<Compare, false>>(table, name, "");
    if constexpr (std::is_same_v<T, Half>) add_small_comparison<T, OfSmall<Compare, true>>(table, name, ".ftz");
  } else {
    add_setp<T, Compare>(table, name, "." + type);
    add_set<T, Compare>(table, name, "", "." + type);
    if constexpr (std::is_same_v<T, float>) {
      add_setp<T, Flushing<Compare>>(table, name, ".ftz." + type);
      add_set<T, Flushing<Compare>>(table, name, ".ftz", "." + type);
    }
  }
}

template <class T>
void add_comparisons(ArithmeticTable& table, const std::string& type) {
  add_comparison<T, Comparison<Equal, false>>(table, "eq", type);
  add_comparison<T, Comparison<Unequal, false>>(table, "ne", type);
  if (type == "b16" || type == "b32" || type == "b64") return;
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
  if constexpr (!std::is_integral_v<T>) {
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
void add_moves_and_comparisons(ArithmeticTable& table, const std::string& type) {
  add_moves<T>(table, type);
  add_comparisons<T>(table, type);
}

void add_predicates(ArithmeticTable& table) {
  table["and.pred"] = truth<AndTruth, Predicate, Predicate>();
  table["or.pred"] = truth<OrTruth, Predicate, Predicate>();
  table["xor.pred"] = truth<XorTruth, Predicate, Predicate>();
  table["not.pred"] = truth<NotTruth, Predicate>();
  table["mov.pred"] = truth<CopyTruth, Predicate>();
}

}  // namespace

void add_comparisons_and_selections(ArithmeticTable& table) {
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
  add_comparisons<Half>(table, "f16");
  add_comparisons<Bfloat>(table, "bf16");
  add_predicates(table);
}

}  // namespace cudal1::vgpu
