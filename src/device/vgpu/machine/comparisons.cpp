// Moves, selections, comparisons and the arithmetic of predicates.
#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/half_modifiers.hpp"

namespace cudal1::vgpu {
namespace {

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

template <class T>
void add_moves(ArithmeticTable& table, const std::string& type) {
  table["mov." + type] = value<Copy, T, T>();
  table["selp." + type] = value<Select, T, T, T, Predicate>();
}

// --- set: a register full of ones, or 1.0, where the comparison holds
template <class R>
R where_true() {
  if constexpr (std::is_integral_v<R>)
    return static_cast<R>(~R{0});
  else if constexpr (std::is_same_v<R, float>)
    return 1.0f;
  else
    return R{R::one};
}
template <class Compare, class R>
struct SetTo {
  template <class T>
  R operator()(T a, T b) const {
    return Compare{}(a, b) ? where_true<R>() : R{};
  }
};
template <class Compare, class T>
struct SetBoth {
  u32 operator()(u32 a, u32 b) const { return part(a, b, 0) | part(a, b, 16) << 16; }

 private:
  static u32 part(u32 a, u32 b, u32 shift) {
    return Compare{}(T{static_cast<u16>(a >> shift)}, T{static_cast<u16>(b >> shift)}) ? T::one : 0u;
  }
};

// --- setp of two numbers in a register: one predicate each
struct FirstTruth {
  bool operator()(bool a, bool) const { return a; }
};
template <class Compare, class T, class Combine, bool combining>
void set_both(Registers& registers, const Operation& operation, Mask mask) {
  const u32 *a = registers.words<u32>(operation.operands[0]), *b = registers.words<u32>(operation.operands[1]);
  const Mask combined = combining ? registers.predicate(operation.operands[2]) : 0;
  Mask low = 0, high = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    const bool other = (combined >> lane & 1) != 0;
    const auto holds = [&](u32 shift) {
      return Combine{}(Compare{}(T{static_cast<u16>(a[lane] >> shift)}, T{static_cast<u16>(b[lane] >> shift)}), other);
    };
    low |= Mask{holds(0)} << lane;
    high |= Mask{holds(16)} << lane;
  }
  if (operation.second_result != 0) set_predicate(registers, operation.second_result, high, mask);
  set_predicate(registers, operation.result, low, mask);
}
template <class Compare, class T, class Combine, bool combining>
ArithmeticOpcode both_truths() {
  const Handler run = &set_both<Compare, T, Combine, combining>;
  std::vector<Kind> operands{Kind::bits32, Kind::bits32};
  if (combining) operands.push_back(Kind::predicate);
  return {run, run, Kind::predicate, operands, true};
}

template <class T, class Compare>
void add_setp(ArithmeticTable& table, const std::string& name, const std::string& type) {
  table["setp." + name + type] = truth<Compare, T, T>();
  table["setp." + name + ".and" + type] = truth<Combined<Compare, AndTruth>, T, T, Predicate>();
  table["setp." + name + ".or" + type] = truth<Combined<Compare, OrTruth>, T, T, Predicate>();
  table["setp." + name + ".xor" + type] = truth<Combined<Compare, XorTruth>, T, T, Predicate>();
}

template <class T, class Compare>
void add_packed_setp(ArithmeticTable& table, const std::string& name, const std::string& type) {
  table["setp." + name + type] = both_truths<Compare, T, FirstTruth, false>();
  table["setp." + name + ".and" + type] = both_truths<Compare, T, AndTruth, true>();
  table["setp." + name + ".or" + type] = both_truths<Compare, T, OrTruth, true>();
  table["setp." + name + ".xor" + type] = both_truths<Compare, T, XorTruth, true>();
}

template <class T, class Compare>
void add_set(ArithmeticTable& table, const std::string& name, const std::string& flush, const std::string& type) {
  const std::string head = "set." + name + flush;
  table[head + ".u32" + type] = rare<SetTo<Compare, u32>, u32, T, T>();
  table[head + ".s32" + type] = table.at(head + ".u32" + type);
  table[head + ".f32" + type] = rare<SetTo<Compare, float>, float, T, T>();
}

template <class T, class Compare>
void add_small_comparison(ArithmeticTable& table, const std::string& name, const std::string& flush) {
  const std::string type = std::is_same_v<T, Half> ? ".f16" : ".bf16", packed = type + "x2";
  add_setp<T, Compare>(table, name, flush + type);
  add_packed_setp<T, Compare>(table, name, flush + packed);
  add_set<T, Compare>(table, name, flush, type);
  table["set." + name + flush + type + type] = rare<SetTo<Compare, T>, T, T, T>();
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
