// The rarer integer instructions: fields and permutations of bits, dot products of bytes, 24-bit products, carries.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {
namespace {

constexpr u32 nothing_found = ~u32{0};

// --- fields of bits
struct InsertBits {
  template <class T>
  T operator()(T field, T into, u32 position, u32 length) const {
    const u32 width = 8 * sizeof(T), from = position & 255u, count = length & 255u;
    if (from >= width || count == 0) return into;
    const T ones = count >= width ? ~T{0} : (T{1} << count) - 1;
    return (into & ~(ones << from)) | ((field & ones) << from);
  }
};
//! The highest bit that is not a copy of the sign.
template <bool from_the_top>
struct FindHighestBit {
  template <class T>
  u32 operator()(T value) const {
    using U = std::make_unsigned_t<T>;
    const U bits = value < 0 ? static_cast<U>(~value) : static_cast<U>(value);
    if (bits == 0) return nothing_found;
    const auto leading = static_cast<u32>(std::countl_zero(bits));
    return from_the_top ? leading : static_cast<u32>(8 * sizeof(T)) - 1 - leading;
  }
};
//! The n-th set bit from a position on, up or down; n = 0 asks for the position itself.
struct FindNthBit {
  u32 operator()(u32 bits, u32 base, i32 n) const {
    if (base > 31) return nothing_found;
    if (n == 0) return (bits >> base & 1) != 0 ? base : nothing_found;
    u32 left = n > 0 ? static_cast<u32>(n) : 0 - static_cast<u32>(n);
    for (u32 at = base; at<32; n> 0 ? ++at : --at)  // below zero wraps, and ends the loop
      if ((bits >> at & 1) != 0 && --left == 0) return at;
    return nothing_found;
  }
};
template <bool wrapping>
u32 count_of_bits(u32 given) {
  return wrapping ? given & 31u : std::min(given, 32u);
}
template <bool wrapping>
struct MakeMask {
  u32 operator()(u32 position, u32 length) const {
    const u64 ones = (u64{1} << count_of_bits<wrapping>(length)) - 1;
    return static_cast<u32>(ones << count_of_bits<wrapping>(position));
  }
};
template <bool wrapping>
struct ExtendFrom {
  template <class T>
  T operator()(T value, u32 width) const {
    const u32 count = count_of_bits<wrapping>(width);
    if (count == 0) return 0;
    const u32 unused = 32 - count;
    return static_cast<T>(static_cast<T>(static_cast<u32>(value) << unused) >> unused);
  }
};
template <bool left, bool wrapping>
struct FunnelShift {
  u32 operator()(u32 low, u32 high, u32 count) const {
    const u32 by = count_of_bits<wrapping>(count);
    const u64 both = u64{high} << 32 | low;
    return static_cast<u32>(left ? both << by >> 32 : both >> by);
  }
};
//! Any function of three bits: its value for a, b, c is bit 4a+2b+c of the table.
struct LookUpThree {
  u32 operator()(u32 a, u32 b, u32 c, u32 table) const {
    u32 result = 0;
    for (u32 i = 0; i < 8; ++i) {
      const u32 here = ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
      result |= (table >> i & 1) != 0 ? here : 0;
    }
    return result;
  }
};
struct IsZero {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

// --- permutations of bytes: each selector names one of the eight bytes of b:a, or its sign with 8 added
u32 bytes_chosen(u32 a, u32 b, u32 selectors) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 selector = selectors >> (4 * i) & 15u;
    const u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7u))) & 255u;
    result |= ((selector & 8u) == 0 ? byte : (byte & 128u) != 0 ? 255u : 0u) << (8 * i);
  }
  return result;
}
struct Permute {
  u32 operator()(u32 a, u32 b, u32 selectors) const { return bytes_chosen(a, b, selectors); }
};
//! The special modes know four sets of selectors each.
template <u32 first, u32 second, u32 third, u32 fourth>
struct PermuteBy {
  u32 operator()(u32 a, u32 b, u32 which) const {
    constexpr u32 selectors[] = {first, second, third, fourth};
    return bytes_chosen(a, b, selectors[which & 3u]);
  }
};

// --- sums of products
template <class A>
u32 extended_byte(u32 word, u32 index) {
  using Byte = std::conditional_t<std::is_signed_v<A>, std::int8_t, std::uint8_t>;
  return static_cast<u32>(static_cast<i32>(static_cast<Byte>(word >> (8 * index))));
}
template <class A>
u32 extended_half(u32 word, u32 index) {
  using Short = std::conditional_t<std::is_signed_v<A>, i16, u16>;
  return static_cast<u32>(static_cast<i32>(static_cast<Short>(word >> (16 * index))));
}
template <class A, class B>
struct DotOfBytes {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 i = 0; i < 4; ++i) c += extended_byte<A>(a, i) * extended_byte<B>(b, i);
    return c;
  }
};
template <class A, class B, u32 first_byte>
struct DotOfHalves {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 i = 0; i < 2; ++i) c += extended_half<A>(a, i) * extended_byte<B>(b, first_byte + i);
    return c;
  }
};
struct SumOfDifferences {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(a < b ? Subtract{}(b, a) : Subtract{}(a, b), c);
  }
};
//! Of the lower 24 bits; the upper part is bits 16 to 47.
template <bool upper>
struct Multiply24 {
  template <class T>
  T operator()(T a, T b) const {
    const auto extended = [](T value) { return static_cast<i64>(static_cast<T>(static_cast<u32>(value) << 8) >> 8); };
    return static_cast<T>(extended(a) * extended(b) >> (upper ? 16 : 0));
  }
};
template <bool upper>
struct MultiplyAdd24 {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Multiply24<upper>{}(a, b), c);
  }
};

// --- .sat of 32 bits
i32 clamped(i64 value) { return static_cast<i32>(std::clamp<i64>(value, INT32_MIN, INT32_MAX)); }
struct AddClamped {
  i32 operator()(i32 a, i32 b) const { return clamped(i64{a} + b); }
};
struct SubtractClamped {
  i32 operator()(i32 a, i32 b) const { return clamped(i64{a} - b); }
};
struct MultiplyUpperAddClamped {
  i32 operator()(i32 a, i32 b, i32 c) const { return clamped((i64{a} * b >> 32) + c); }
};
struct MultiplyAdd24Clamped {
  i32 operator()(i32 a, i32 b, i32 c) const { return clamped(i64{Multiply24<true>{}(a, b)} + c); }
};

// --- carries
__extension__ using u128 = unsigned __int128;

//! What an addition or subtraction with a carry gives: the number, and what it carries on.
template <class T>
struct Carried {
  T value;
  bool carry;
};
struct AddCarrying {
  template <class T>
  Carried<T> operator()(bool carry, T a, T b) const {
    const u128 sum = u128{a} + b + (carry ? 1 : 0);
    return {static_cast<T>(sum), sum >> (8 * sizeof(T)) != 0};
  }
};
struct SubtractCarrying {
  template <class T>
  Carried<T> operator()(bool borrow, T a, T b) const {
    const u128 taken = u128{b} + (borrow ? 1 : 0);
    return {static_cast<T>(a - taken), taken > a};
  }
};
template <bool upper, bool is_signed>
struct MultiplyAddCarrying {
  template <class T>
  Carried<T> operator()(bool carry, T a, T b, T c) const {
    using S = std::make_signed_t<T>;
    u128 product = u128{a} * b;
    // A negative operand stands for 2^width less than its bits do; that is gone again in the lower half.
    if (is_signed && static_cast<S>(a) < 0) product -= u128{b} << (8 * sizeof(T));
    if (is_signed && static_cast<S>(b) < 0) product -= u128{a} << (8 * sizeof(T));
    return AddCarrying{}(carry, static_cast<T>(upper ? product >> (8 * sizeof(T)) : product), c);
  }
};

template <class F, bool reads, bool writes, class T, std::size_t... I>
void carry_through(Registers& registers, const Operation& operation, Mask mask, std::index_sequence<I...>) {
  const std::array<const T*, sizeof...(I)> sources{registers.words<T>(operation.operands[I])...};
  const Mask carry = reads ? registers.predicate(operation.operands[sizeof...(I)]) : 0;
  Mask carried = 0;
  for (Mask lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const Carried<T> made = F{}((carry >> lane & 1) != 0, sources[I][lane]...);
    registers.words<T>(operation.result)[lane] = made.value;
    carried |= made.carry ? Mask{1} << lane : 0;
  }
  if (writes) set_predicate(registers, operation.second_result, carried, mask);
}

template <class F, bool reads, bool writes, class T, class... A>
void with_carry(Registers& registers, const Operation& operation, Mask mask) {
  carry_through<F, reads, writes, T>(registers, operation, mask, std::index_sequence_for<A...>());
}

template <class F, bool reads, bool writes, class T, class... A>
ArithmeticOpcode carrying() {
  ArithmeticOpcode opcode{&with_carry<F, reads, writes, T, A...>,
                          &with_carry<F, reads, writes, T, A...>,
                          kind_of<T>(),
                          {kind_of<A>()...},
                          false};
  opcode.reads_carry = reads;
  opcode.writes_carry = writes;
  return opcode;
}

//! add.cc writes the carry, addc reads it, addc.cc does both.
template <class F, class T, class... A>
void add_carry_forms(ArithmeticTable& table, const std::string& name, const std::string& part,
                     const std::string& type) {
  table[name + part + ".cc" + type] = carrying<F, false, true, T, A...>();
  table[name + "c" + part + type] = carrying<F, true, false, T, A...>();
  table[name + "c" + part + ".cc" + type] = carrying<F, true, true, T, A...>();
}

template <class T, bool is_signed>
void add_carries(ArithmeticTable& table) {
  const std::string type = fmt::format(".{}{}", is_signed ? "s" : "u", 8 * sizeof(T));
  add_carry_forms<AddCarrying, T, T, T>(table, "add", "", type);
  add_carry_forms<SubtractCarrying, T, T, T>(table, "sub", "", type);
  add_carry_forms<MultiplyAddCarrying<false, is_signed>, T, T, T, T>(table, "mad", ".lo", type);
  add_carry_forms<MultiplyAddCarrying<true, is_signed>, T, T, T, T>(table, "mad", ".hi", type);
}

template <class A, class B>
void add_dot_products(ArithmeticTable& table) {
  const auto letter = [](bool is_signed) { return is_signed ? "s32" : "u32"; };
  const std::string types = fmt::format(".{}.{}", letter(std::is_signed_v<A>), letter(std::is_signed_v<B>));
  table["dp4a" + types] = value<DotOfBytes<A, B>, u32, u32, u32, u32>();
  table["dp2a.lo" + types] = value<DotOfHalves<A, B, 0>, u32, u32, u32, u32>();
  table["dp2a.hi" + types] = value<DotOfHalves<A, B, 2>, u32, u32, u32, u32>();
}

template <class T>
void add_32_bit(ArithmeticTable& table, const std::string& type) {
  table["mul24.lo." + type] = value<Multiply24<false>, T, T, T>();
  table["mul24.hi." + type] = value<Multiply24<true>, T, T, T>();
  table["mad24.lo." + type] = value<MultiplyAdd24<false>, T, T, T, T>();
  table["mad24.hi." + type] = value<MultiplyAdd24<true>, T, T, T, T>();
  table["szext.clamp." + type] = value<ExtendFrom<false>, T, T, u32>();
  table["szext.wrap." + type] = value<ExtendFrom<true>, T, T, u32>();
}

template <class T>
void add_differences(ArithmeticTable& table, const std::string& type) {
  table["sad." + type] = value<SumOfDifferences, T, T, T, T>();
  if constexpr (sizeof(T) >= 4) {
    table["bfind." + type] = value<FindHighestBit<false>, u32, T>();
    table["bfind.shiftamt." + type] = value<FindHighestBit<true>, u32, T>();
  }
}

void add_permutations(ArithmeticTable& table) {
  table["prmt.b32"] = value<Permute, u32, u32, u32, u32>();
  table["prmt.b32.f4e"] = value<PermuteBy<0x3210, 0x4321, 0x5432, 0x6543>, u32, u32, u32, u32>();
  table["prmt.b32.b4e"] = value<PermuteBy<0x5670, 0x6701, 0x7012, 0x0123>, u32, u32, u32, u32>();
  table["prmt.b32.rc8"] = value<PermuteBy<0x0000, 0x1111, 0x2222, 0x3333>, u32, u32, u32, u32>();
  table["prmt.b32.ecl"] = value<PermuteBy<0x3210, 0x3211, 0x3222, 0x3333>, u32, u32, u32, u32>();
  table["prmt.b32.ecr"] = value<PermuteBy<0x0000, 0x1110, 0x2210, 0x3210>, u32, u32, u32, u32>();
  table["prmt.b32.rc16"] = value<PermuteBy<0x1010, 0x3232, 0x1010, 0x3232>, u32, u32, u32, u32>();
}

void add_shifts_and_masks(ArithmeticTable& table) {
  table["shf.l.clamp.b32"] = value<FunnelShift<true, false>, u32, u32, u32, u32>();
  table["shf.l.wrap.b32"] = value<FunnelShift<true, true>, u32, u32, u32, u32>();
  table["shf.r.clamp.b32"] = value<FunnelShift<false, false>, u32, u32, u32, u32>();
  table["shf.r.wrap.b32"] = value<FunnelShift<false, true>, u32, u32, u32, u32>();
  table["bmsk.clamp.b32"] = value<MakeMask<false>, u32, u32, u32>();
  table["bmsk.wrap.b32"] = value<MakeMask<true>, u32, u32, u32>();
  table["bfi.b32"] = value<InsertBits, u32, u32, u32, u32, u32>();
  table["bfi.b64"] = value<InsertBits, u64, u64, u64, u32, u32>();
  table["fns.b32"] = value<FindNthBit, u32, u32, u32, i32>();
  table["lop3.b32"] = value<LookUpThree, u32, u32, u32, u32, u32>();
  table["cnot.b16"] = value<IsZero, u16, u16>();
  table["cnot.b32"] = value<IsZero, u32, u32>();
  table["cnot.b64"] = value<IsZero, u64, u64>();
}

}  // namespace

void add_bit_arithmetic(ArithmeticTable& table) {
  add_permutations(table);
  add_shifts_and_masks(table);
  add_dot_products<i32, i32>(table);
  add_dot_products<i32, u32>(table);
  add_dot_products<u32, i32>(table);
  add_dot_products<u32, u32>(table);
  add_32_bit<i32>(table, "s32");
  add_32_bit<u32>(table, "u32");
  add_differences<i16>(table, "s16");
  add_differences<u16>(table, "u16");
  add_differences<i32>(table, "s32");
  add_differences<u32>(table, "u32");
  add_differences<i64>(table, "s64");
  add_differences<u64>(table, "u64");
  table["add.sat.s32"] = value<AddClamped, i32, i32, i32>();
  table["sub.sat.s32"] = value<SubtractClamped, i32, i32, i32>();
  table["mad.hi.sat.s32"] = value<MultiplyUpperAddClamped, i32, i32, i32, i32>();
  table["mad24.hi.sat.s32"] = value<MultiplyAdd24Clamped, i32, i32, i32, i32>();
  add_carries<u32, false>(table);
  add_carries<u32, true>(table);
  add_carries<u64, false>(table);
  add_carries<u64, true>(table);
}

}  // namespace cudal1::vgpu
