#include "warp_oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace cudal1::vgpu {
namespace {

constexpr int warp = 32;

// --- elements of matrices
int bits_of_element(const std::string& type) { return type == "s8" || type == "u8" ? 8 : 16; }

std::uint32_t element_bits(const WarpWords& word, int lane, int index, int bits) {
  return word[static_cast<std::size_t>(lane)] >> (index * bits) & ((1u << bits) - 1u);
}

//! A floating-point number as significand * 2^exponent. Numbers below the normal ones count as large as the smallest of
//! those.
struct Element {
  std::int64_t significand = 0;
  int leading = 0;   //!< exponent of the first digit's place
  int exponent = 0;  //!< of the significand's last digit
  bool is_nan = false, is_infinite = false, negative = false;
};

Element split(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int stored = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const std::int64_t fraction = bits & ((1u << fraction_bits) - 1u);
  Element element;
  element.negative = (bits >> (exponent_bits + fraction_bits) & 1u) != 0;
  element.is_nan = stored == (1 << exponent_bits) - 1 && fraction != 0;
  element.is_infinite = stored == (1 << exponent_bits) - 1 && fraction == 0;
  element.significand = stored == 0 ? fraction : fraction + (std::int64_t{1} << fraction_bits);
  element.leading = std::max(stored, 1) - bias;
  element.exponent = element.leading - fraction_bits;
  return element;
}

Element element_of(std::uint32_t bits, const std::string& type) {
  if (type == "f16") return split(bits, 5, 10);
  if (type == "bf16") return split(bits, 8, 7);
  return split(bits, 8, 23);  // f32
}

Element product(const Element& a, const Element& b) {
  Element result;
  result.negative = a.negative != b.negative;
  const bool undefined = (a.is_infinite && b.significand == 0) || (b.is_infinite && a.significand == 0);
  result.is_nan = a.is_nan || b.is_nan || undefined;
  result.is_infinite = !result.is_nan && (a.is_infinite || b.is_infinite);
  result.significand = a.significand * b.significand;
  result.leading = a.leading + b.leading;
  result.exponent = a.exponent + b.exponent;
  return result;
}

//! A whole number of units of 2^exponent, digits cut off.
std::int64_t cut_off(const Element& element, int exponent) {
  if (element.significand == 0) return 0;  // of any size
  const int shift = element.exponent - exponent;
  const std::int64_t size = shift >= 0 ? element.significand << shift : shift < -62 ? 0 : element.significand >> -shift;
  return element.negative ? -size : size;
}

std::uint32_t single_cut_off(std::int64_t sum, int exponent) {
  const std::uint32_t sign = sum < 0 ? 0x80000000u : 0u;
  auto size = static_cast<std::uint64_t>(std::abs(sum));
  if (size == 0) return 0;
  int last = exponent;  // of size's last digit; no finer than fp32 has it
  while (size >= (1u << 24) || last < -149) {
    size >>= 1;
    ++last;
  }
  while (size < (1u << 23) && last > -149) {
    size <<= 1;
    --last;
  }
  if (last > 104) return sign | 0x7f7fffffu;  // cut off, not rounded: the largest number
  if (size < (1u << 23)) return sign | static_cast<std::uint32_t>(size);
  return sign | static_cast<std::uint32_t>(last + 150) << 23 | static_cast<std::uint32_t>(size & 0x7fffffu);
}

std::uint32_t add_up(const std::vector<Element>& terms) {
  bool nan = false, plus = false, minus = false;
  int largest = -1000;
  for (const Element& term : terms) {
    nan |= term.is_nan;
    plus |= term.is_infinite && !term.negative;
    minus |= term.is_infinite && term.negative;
    if (term.significand != 0) largest = std::max(largest, term.leading);
  }
  if (nan || (plus && minus)) return 0x7fffffffu;
  if (plus || minus) return plus ? 0x7f800000u : 0xff800000u;
  std::int64_t sum = 0;
  for (const Element& term : terms) sum += cut_off(term, largest - 25);
  return single_cut_off(sum, largest - 25);
}

std::int64_t integer_of(std::uint32_t bits, const std::string& type) {
  return type == "s8" ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits);
}

//! A matrix of elements' bits.
struct Matrix {
  Matrix(int row_count, int column_count)
      : columns(column_count), bits(static_cast<std::size_t>(row_count * column_count)) {}
  std::uint32_t& at(int row, int column) { return bits[static_cast<std::size_t>(row * columns + column)]; }
  int columns;
  std::vector<std::uint32_t> bits;
};

//! Groups of four lanes hold rows of A; a register holds columns side by side. Registers go through the upper and the
//! lower eight rows first, then through the columns.
Matrix matrix_a(const MatrixShape& shape, const std::vector<WarpWords>& registers) {
  const int bits = bits_of_element(shape.a), each = 32 / bits, row_blocks = shape.m / 8;
  Matrix matrix(shape.m, shape.k);
  for (int r = 0; r < static_cast<int>(registers.size()); ++r)
    for (int lane = 0; lane < warp; ++lane)
      for (int i = 0; i < each; ++i) {
        const int row = lane / 4 + 8 * (r % row_blocks), column = (lane % 4) * each + i + 4 * each * (r / row_blocks);
        matrix.at(row, column) = element_bits(registers[static_cast<std::size_t>(r)], lane, i, bits);
      }
  return matrix;
}

//! Of B they hold columns.
Matrix matrix_b(const MatrixShape& shape, const std::vector<WarpWords>& registers) {
  const int bits = bits_of_element(shape.b), each = 32 / bits;
  Matrix matrix(shape.k, shape.n);
  for (int r = 0; r < static_cast<int>(registers.size()); ++r)
    for (int lane = 0; lane < warp; ++lane)
      for (int i = 0; i < each; ++i)
        matrix.at((lane % 4) * each + i + 4 * each * r, lane / 4) =
            element_bits(registers[static_cast<std::size_t>(r)], lane, i, bits);
  return matrix;
}

std::uint32_t dot(const MatrixShape& shape, Matrix& a, Matrix& b, int row, int column, std::uint32_t c) {
  if (bits_of_element(shape.a) == 8) {
    std::uint32_t sum = c;  // wraps around
    for (int k = 0; k < shape.k; ++k)
      sum += static_cast<std::uint32_t>(integer_of(a.at(row, k), shape.a) * integer_of(b.at(k, column), shape.b));
    return sum;
  }
  std::vector<Element> terms{element_of(c, "f32")};
  for (int k = 0; k < shape.k; ++k)
    terms.push_back(product(element_of(a.at(row, k), shape.a), element_of(b.at(k, column), shape.b)));
  return add_up(terms);
}

}  // namespace

ShuffledWords shuffle_by_oracle(const std::string& mode, const WarpWords& a, const WarpWords& b, const WarpWords& c) {
  ShuffledWords result;
  for (int lane = 0; lane < warp; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    const int count = static_cast<int>(b[at] & 31u), clamp = static_cast<int>(c[at] & 31u);
    const int segment = static_cast<int>(c[at] >> 8 & 31u);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int source = mode == "up"     ? lane - count
                 : mode == "down" ? lane + count
                 : mode == "bfly" ? lane ^ count
                                  : first | (count & ~segment);
    result.in_range[at] = mode == "up" ? source >= last : source <= last;
    if (!result.in_range[at]) source = lane;
    result.values[at] = a[static_cast<std::size_t>(source)];
  }
  return result;
}

std::uint32_t matching_lanes(const std::array<std::uint64_t, 32>& values, std::uint32_t mask, int lane) {
  std::uint32_t found = 0;
  for (std::size_t other = 0; other < 32; ++other)
    if ((mask >> other & 1u) != 0 && values[other] == values[static_cast<std::size_t>(lane)]) found |= 1u << other;
  return found;
}

std::uint32_t reduce_by_oracle(const std::string& operation, const std::string& type, const WarpWords& values,
                               std::uint32_t mask) {
  const bool has_sign = type == "s32";
  const auto less = [&](std::uint32_t x, std::uint32_t y) {
    return has_sign ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  };
  bool first = true;
  std::uint32_t result = 0;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    const std::uint32_t x = values[lane];
    if (first) {
      result = x;
    } else if (operation == "add") {
      result += x;
    } else if (operation == "min" || operation == "max") {
      result = less(x, result) == (operation == "min") ? x : result;
    } else {
      result = operation == "and" ? result & x : operation == "or" ? result | x : result ^ x;
    }
    first = false;
  }
  return result;
}

SmallMatrix SmallMatrix::transposed() const {
  SmallMatrix result;
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t column = 0; column < 8; ++column) result.rows[column][row] = rows[row][column];
  return result;
}

WarpWords SmallMatrix::as_registers() const {
  WarpWords registers{};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto& row = rows[lane / 4];
    registers[lane] = row[2 * (lane % 4)] | static_cast<std::uint32_t>(row[2 * (lane % 4) + 1]) << 16;
  }
  return registers;
}

SmallMatrix SmallMatrix::of_registers(const WarpWords& registers) {
  SmallMatrix result;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    result.rows[lane / 4][2 * (lane % 4)] = static_cast<std::uint16_t>(registers[lane]);
    result.rows[lane / 4][2 * (lane % 4) + 1] = static_cast<std::uint16_t>(registers[lane] >> 16);
  }
  return result;
}

std::size_t MatrixShape::registers_of_a() const { return static_cast<std::size_t>(m * k * bits_of_element(a) / 1024); }
std::size_t MatrixShape::registers_of_b() const { return static_cast<std::size_t>(k * n * bits_of_element(b) / 1024); }
std::size_t MatrixShape::registers_of_c() const { return static_cast<std::size_t>(m * n / 32); }

std::vector<WarpWords> multiply_by_oracle(const MatrixShape& shape, const std::vector<WarpWords>& a,
                                          const std::vector<WarpWords>& b, const std::vector<WarpWords>& c) {
  Matrix left = matrix_a(shape, a), right = matrix_b(shape, b);
  std::vector<WarpWords> result = c;
  for (std::size_t r = 0; r < result.size(); ++r)
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const int row = static_cast<int>(lane / 4 + 8 * (r / 2)), column = static_cast<int>(2 * (lane % 4) + r % 2);
      result[r][lane] = dot(shape, left, right, row, column, c[r][lane]);
    }
  return result;
}

}  // namespace cudal1::vgpu
