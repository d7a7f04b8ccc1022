#include "device/vgpu/machine/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/vgpu/machine/half.hpp"
#include "device/vgpu/machine/rounding.hpp"
#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

using Words = std::uint32_t;

// --- what a register holds
struct HalfElement {
  using Value = float;
  static constexpr int bits = 16;
  static Value of(Words word) { return float_of_half(static_cast<std::uint16_t>(word)); }
};
struct BfloatElement {
  using Value = float;
  static constexpr int bits = 16;
  static Value of(Words word) { return float_of_bfloat(static_cast<std::uint16_t>(word)); }
};
//! The lower 13 bits of the register are not looked at.
struct Tf32Element {
  using Value = float;
  static constexpr int bits = 32;
  static Value of(Words word) { return std::bit_cast<float>(word & 0xffffe000u); }
};
struct SignedByte {
  using Value = std::int32_t;
  static constexpr int bits = 8;
  static Value of(Words word) { return static_cast<std::int8_t>(word); }
};
struct UnsignedByte {
  using Value = std::int32_t;
  static constexpr int bits = 8;
  static Value of(Words word) { return static_cast<std::uint8_t>(word); }
};

// --- a sum of products
// Tensor cores add as fixed-point numbers: all products, which are exact, and the accumulator are cut off at a common
// place, so many digits below the largest exponent, then added exactly; the sum is cut off once more to fp32, or
// rounded to nearest to fp16.
constexpr int kept_digits = 25;

struct Sum {
  double value = 0;  //!< of the finite ones; exact
  bool nan = false, positive_infinity = false, negative_infinity = false;
};

int exponent_of(float value, int smallest) {
  const int biased = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 255u);
  return std::max(biased - 127, smallest);
}

//! The smallest exponent that is not one of a subnormal number.
template <class Element>
constexpr int smallest_exponent() {
  return std::is_same_v<Element, HalfElement> ? -14 : -126;
}

void note_special(Sum& sum, double term) {
  if (std::isnan(term)) sum.nan = true;
  if (std::isinf(term)) (term > 0 ? sum.positive_infinity : sum.negative_infinity) = true;
}

//! Zeros have no exponent.
template <class A, class B, int k>
Sum cut_off_and_added(const float* a, const float* b, float c) {
  Sum sum;
  double terms[k + 1];
  int largest = -1000;
  for (int i = 0; i < k; ++i) {
    terms[i] = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    const int exponent = exponent_of(a[i], smallest_exponent<A>()) + exponent_of(b[i], smallest_exponent<B>());
    if (terms[i] != 0) largest = std::max(largest, exponent);
  }
  terms[k] = static_cast<double>(c);
  if (c != 0) largest = std::max(largest, exponent_of(c, -126));
  if (largest == -1000) return sum;
  const double place = std::ldexp(1.0, largest - kept_digits), places = std::ldexp(1.0, kept_digits - largest);
  double total = 0;
  for (const double term : terms) {
    if (!std::isfinite(term)) note_special(sum, term);
    total += std::trunc(term * places);
  }
  sum.value = total * place;
  return sum;
}

float as_single(const Sum& sum) {
  if (sum.nan || (sum.positive_infinity && sum.negative_infinity)) return std::bit_cast<float>(0x7fffffffu);
  if (sum.positive_infinity || sum.negative_infinity)
    return sum.positive_infinity ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  return std::bit_cast<float>(static_cast<std::uint32_t>(rounded(sum.value, single_format, Rounding::to_zero)));
}

std::uint16_t as_half(const Sum& sum) {
  if (sum.nan || (sum.positive_infinity && sum.negative_infinity)) return 0x7fff;
  if (sum.positive_infinity || sum.negative_infinity) return sum.positive_infinity ? 0x7c00 : 0xfc00;
  return half_of_double(sum.value);
}

// --- accumulators: how a lane's registers hold them, and what a sum becomes
template <class A, class B>
struct SingleAccumulator {
  using Value = float;
  static constexpr int elements_in_register = 1;
  static Value read(Words word, int) { return std::bit_cast<float>(word); }
  static void write(Words& word, int, Value value) { word = std::bit_cast<Words>(value); }
  template <int k>
  static Value sum(const float* a, const float* b, Value c) {
    return as_single(cut_off_and_added<A, B, k>(a, b, c));
  }
};
template <class A, class B>
struct HalfAccumulator {
  using Value = std::uint16_t;
  static constexpr int elements_in_register = 2;
  static Value read(Words word, int i) { return static_cast<Value>(word >> (16 * i)); }
  static void write(Words& word, int i, Value value) {
    word = (word & ~(0xffffu << (16 * i))) | Words{value} << (16 * i);
  }
  template <int k>
  static Value sum(const float* a, const float* b, Value c) {
    return as_half(cut_off_and_added<A, B, k>(a, b, float_of_half(c)));
  }
};
template <bool saturating>
struct IntegerAccumulator {
  using Value = std::int32_t;
  static constexpr int elements_in_register = 1;
  static Value read(Words word, int) { return static_cast<Value>(word); }
  static void write(Words& word, int, Value value) { word = static_cast<Words>(value); }
  template <int k>
  static Value sum(const std::int32_t* a, const std::int32_t* b, Value c) {
    std::int64_t total = c;
    for (int i = 0; i < k; ++i) total += std::int64_t{a[i]} * b[i];
    if (saturating)
      total = std::clamp<std::int64_t>(total, std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max());
    return static_cast<Value>(static_cast<Words>(total));
  }
};

// --- fragments
// Lanes form eight groups of four. A register of A holds consecutive columns of one row, a register of B consecutive
// rows of one column; the group is the row of A and the column of B, the place in the group says which of them. The
// registers of A go through two blocks of eight rows first, then to the next columns.
template <class Element, int m, int k>
struct FragmentA {
  static constexpr int in_register = 32 / Element::bits, blocks = m / 8;
  static constexpr int registers = blocks * k / (4 * in_register);
  static int row(int lane, int r) { return lane / 4 + 8 * (r % blocks); }
  static int column(int lane, int r) { return in_register * (lane % 4) + 4 * in_register * (r / blocks); }
};
template <class Element, int k>
struct FragmentB {
  static constexpr int in_register = 32 / Element::bits;
  static constexpr int registers = k / (4 * in_register);
  static int row(int lane, int r) { return in_register * (lane % 4) + 4 * in_register * r; }
  static int column(int lane) { return lane / 4; }
};

template <class Accumulator, class A, class B, int m, int k>
struct Product {
  static constexpr int n = 8;
  using FA = FragmentA<A, m, k>;
  using FB = FragmentB<B, k>;
  static constexpr int accumulators = m * n / warp_size / Accumulator::elements_in_register;

  static void run(Warp& warp, const Step& step, Mask) {
    const auto& slots = warp.block().kernel->slot_lists[step.target];
    typename A::Value a[m][k];
    typename B::Value b[n][k];  // a column each
    for (int lane = 0; lane < warp_size; ++lane) {
      read_a(warp.registers(), slots, lane, a);
      read_b(warp.registers(), slots, lane, b);
    }
    for (int lane = 0; lane < warp_size; ++lane) accumulate(warp.registers(), slots, lane, a, b);
  }

 private:
  using Slots = std::array<Slot, 16>;

  static void read_a(Registers& registers, const Slots& slots, int lane, typename A::Value (&a)[m][k]) {
    for (int r = 0; r < FA::registers; ++r) {
      const Words word = registers.words<Words>(slots[a_slots + static_cast<std::size_t>(r)])[lane];
      for (int j = 0; j < FA::in_register; ++j)
        a[FA::row(lane, r)][FA::column(lane, r) + j] = A::of(word >> (A::bits % 32 * j));
    }
  }
  static void read_b(Registers& registers, const Slots& slots, int lane, typename B::Value (&b)[n][k]) {
    for (int r = 0; r < FB::registers; ++r) {
      const Words word = registers.words<Words>(slots[b_slots + static_cast<std::size_t>(r)])[lane];
      for (int j = 0; j < FB::in_register; ++j)
        b[FB::column(lane)][FB::row(lane, r) + j] = B::of(word >> (B::bits % 32 * j));
    }
  }
  //! A lane has two neighbours of a row, of the first eight rows and of the next. All of C is read before any of D is
  //! written: their registers may be the same ones in another order.
  static void accumulate(Registers& registers, const Slots& slots, int lane, const typename A::Value (&a)[m][k],
                         const typename B::Value (&b)[n][k]) {
    std::array<Words, accumulators> sums;
    for (std::size_t r = 0; r < accumulators; ++r) sums[r] = registers.words<Words>(slots[c_slots + r])[lane];
    for (int i = 0; i < m * n / warp_size; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      Words& word = sums[static_cast<std::size_t>(i / Accumulator::elements_in_register)];
      const int part = i % Accumulator::elements_in_register;
      Accumulator::write(word, part, Accumulator::template sum<k>(a[row], b[column], Accumulator::read(word, part)));
    }
    for (std::size_t r = 0; r < accumulators; ++r) registers.words<Words>(slots[d_slots + r])[lane] = sums[r];
  }
};

template <class Accumulator, class A, class B, int m, int k>
KnownProduct known() {
  using P = Product<Accumulator, A, B, m, k>;
  return {&P::run, {P::accumulators, P::FA::registers, P::FB::registers, P::accumulators}};
}

template <class A>
KnownProduct find_half(const MatrixProduct& product) {
  if (product.m != 16) return {};
  if (product.accumulator == "f32") {
    if (product.k == 8) return known<SingleAccumulator<A, A>, A, A, 16, 8>();
    if (product.k == 16) return known<SingleAccumulator<A, A>, A, A, 16, 16>();
  }
  if (product.accumulator == "f16" && std::is_same_v<A, HalfElement>) {
    if (product.k == 8) return known<HalfAccumulator<A, A>, A, A, 16, 8>();
    if (product.k == 16) return known<HalfAccumulator<A, A>, A, A, 16, 16>();
  }
  return {};
}

KnownProduct find_tf32(const MatrixProduct& product) {
  using A = Tf32Element;
  if (product.m != 16 || product.accumulator != "f32") return {};
  if (product.k == 4) return known<SingleAccumulator<A, A>, A, A, 16, 4>();
  return product.k == 8 ? known<SingleAccumulator<A, A>, A, A, 16, 8>() : KnownProduct{};
}

template <class A, class B, bool saturating>
KnownProduct find_bytes(const MatrixProduct& product) {
  using Accumulator = IntegerAccumulator<saturating>;
  if (product.accumulator != "s32") return {};
  if (product.m == 8 && product.k == 16) return known<Accumulator, A, B, 8, 16>();
  if (product.m == 16 && product.k == 16) return known<Accumulator, A, B, 16, 16>();
  return product.m == 16 && product.k == 32 ? known<Accumulator, A, B, 16, 32>() : KnownProduct{};
}
template <class A, class B>
KnownProduct find_bytes(const MatrixProduct& product) {
  return product.saturating ? find_bytes<A, B, true>(product) : find_bytes<A, B, false>(product);
}
template <class A>
KnownProduct find_bytes(const MatrixProduct& product) {
  if (product.b == "s8") return find_bytes<A, SignedByte>(product);
  return product.b == "u8" ? find_bytes<A, UnsignedByte>(product) : KnownProduct{};
}

// --- m8n8k4 in double: one element a register, products and sums one after the other, each rounded once
void multiply_doubles(Warp& warp, const Step& step, Mask) {
  const auto& slots = warp.block().kernel->slot_lists[step.target];
  const auto lanes = [&](std::size_t slot) { return warp.registers().words<double>(slots[slot]); };
  double a[8][4], b[8][4];
  for (int lane = 0; lane < warp_size; ++lane) {
    a[lane / 4][lane % 4] = lanes(a_slots)[lane];
    b[lane / 4][lane % 4] = lanes(b_slots)[lane];
  }
  for (int lane = 0; lane < warp_size; ++lane) {
    std::array<double, 2> sums{lanes(c_slots)[lane], lanes(c_slots + 1)[lane]};
    for (std::size_t i = 0; i < 2; ++i)
      for (int k = 0; k < 4; ++k)
        sums[i] = std::fma(a[lane / 4][k], b[2 * (lane % 4) + static_cast<int>(i)][k], sums[i]);
    for (std::size_t i = 0; i < 2; ++i) lanes(d_slots + i)[lane] = sums[i];
  }
}

// --- ldmatrix
// Lanes 8i to 8i+7 name the rows of matrix i, 16 bytes each. A lane gets two neighbours of row lane/4, or of column
// lane/4 where it is transposed.
template <int matrices, bool transposed>
void load_matrix(Warp& warp, const Step& step, Mask) {
  const auto* bases = warp.registers().words<std::uint64_t>(step.operation.operands[0]);
  std::array<std::uint64_t, warp_size> addresses{};
  std::uint16_t rows[8 * matrices][8];
  for (int lane = 0; lane < 8 * matrices; ++lane) {
    std::uint64_t& address = addresses[static_cast<std::size_t>(lane)];
    address = bases[lane] + static_cast<std::uint64_t>(step.offset);
    if (step.space == AddressSpace::generic && address >= shared_window) address -= shared_window;
    std::memcpy(rows[lane], warp.shared(address, sizeof(rows[lane]), lane, step), sizeof(rows[lane]));
  }
  const Mask readers = matrices == 4 ? full_mask : (Mask{1} << (8 * matrices)) - 1;
  warp.account_shared({AccessKind::read, sizeof(rows[0]), readers, &addresses, warp.index(), &step.at});
  for (int i = 0; i < matrices; ++i)
    for (int lane = 0; lane < warp_size; ++lane) {
      const int line = lane / 4, first = 2 * (lane % 4);
      const auto element = [&](int j) {
        return Words{transposed ? rows[8 * i + first + j][line] : rows[8 * i + line][first + j]};
      };
      warp.registers().words<Words>(step.data[static_cast<std::size_t>(i)])[lane] = element(0) | element(1) << 16;
    }
}

}  // namespace

KnownProduct find_matrix_product(const MatrixProduct& product) {
  const auto& [m, n, k, accumulator, a, b, saturating] = product;
  const bool bytes = a.ends_with('8') && b.ends_with('8');
  if (n != 8 || (a != b && !bytes) || (saturating && !bytes)) return {};
  if (a == "f16") return find_half<HalfElement>(product);
  if (a == "bf16") return find_half<BfloatElement>(product);
  if (a == "tf32") return find_tf32(product);
  if (a == "f64" && accumulator == "f64" && m == 8 && k == 4) return {&multiply_doubles, {2, 1, 1, 2}};
  if (a == "s8") return find_bytes<SignedByte>(product);
  if (a == "u8") return find_bytes<UnsignedByte>(product);
  return {};
}

Effect find_load_matrix(int matrices, bool transposed) {
  switch (matrices) {
    case 1:
      return transposed ? &load_matrix<1, true> : &load_matrix<1, false>;
    case 2:
      return transposed ? &load_matrix<2, true> : &load_matrix<2, false>;
    case 4:
      return transposed ? &load_matrix<4, true> : &load_matrix<4, false>;
    default:
      return nullptr;
  }
}

void transpose_matrix(Warp& warp, const Step& step, Mask) {
  const auto* from = warp.registers().words<Words>(step.operation.operands[0]);
  std::array<Words, warp_size> made{};
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      const Words element = from[4 * row + column / 2] >> (16 * (column % 2)) & 0xffffu;
      made[static_cast<std::size_t>(4 * column + row / 2)] |= element << (16 * (row % 2));
    }
  std::copy(made.begin(), made.end(), warp.registers().words<Words>(step.operation.result));
}

}  // namespace cudal1::vgpu
