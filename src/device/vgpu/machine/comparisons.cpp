// Moves, selections, comparisons and the arithmetic of predicates.
#include "device/vgpu/machine/arithmetic_lanes.hpp"

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

template <class T, class Compare>
void add_comparison(ArithmeticTable& table, const std::string& name, const std::string& type) {
  table["setp." + name + "." + type] = truth<Compare, T, T>();
  table["setp." + name + ".and." + type] = truth<Combined<Compare, AndTruth>, T, T, Predicate>();
  table["setp." + name + ".or." + type] = truth<Combined<Compare, OrTruth>, T, T, Predicate>();
  table["setp." + name + ".xor." + type] = truth<Combined<Compare, XorTruth>, T, T, Predicate>();
}

template <class T>
void add_comparisons(ArithmeticTable& table, const std::string& type) {
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
  add_predicates(table);
}

}  // namespace cudal1::vgpu
