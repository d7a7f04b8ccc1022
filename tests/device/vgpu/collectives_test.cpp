// What lanes do together, against the index formulas of the PTX manual.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"
#include "exact_real.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t in_address = 0x10000, out_address = 0x200000;
using Words = std::vector<std::uint32_t>;

//! One warp runs the body. %rd1 and %rd2 are its lane's 16 words of input and of output, %r0 the lane.
class Collectives : public ::testing::Test {
 protected:
  static constexpr std::size_t words_of_lane = 16;

  Words run(const std::string& body, const Words& in, const std::string& outside = "") {
    const std::string head =
        ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<64>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n.reg .f64 "
        "%fd<8>;\n"
        "mov.u32 %r0, %tid.x;\nld.param.u64 %rd3, [in];\nld.param.u64 %rd4, [out];\nmul.wide.u32 %rd5, %r0, 64;\n"
        "add.s64 %rd1, %rd3, %rd5;\nadd.s64 %rd2, %rd4, %rd5;\n";
    const ptx::Module module = ptx::parse(".version 7.5\n.target sm_86\n.address_size 64\n" + outside +
                                          ".entry k(.param .u64 in, .param .u64 out)\n{\n" + head + body + "ret;\n}\n");
    const Kernel kernel = decode(module, *module.find("k"), {});
    Words given = in, out(warp_size * words_of_lane);
    std::vector<std::byte> parameters(16);
    std::memcpy(parameters.data(), &in_address, 8);
    std::memcpy(parameters.data() + 8, &out_address, 8);
    GlobalMemory memory;
    memory.add({in_address, 4 * given.size(), reinterpret_cast<std::byte*>(given.data()), "in", true});
    memory.add({out_address, 4 * out.size(), reinterpret_cast<std::byte*>(out.data()), "out", true});
    Launch launch{&kernel, {1, 1, 1}, {warp_size, 1, 1}, 0, parameters};
    launch.most_instructions = 100'000;
    run_grid(launch, memory);
    return out;
  }

  Words random_words() {
    Words words(warp_size * words_of_lane);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random_.next());
    return words;
  }

  //! {%r8, %r9} and so on, from register `first`.
  static std::string registers(int first, int count, const char* family = "%r") {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", family, first + i);
    return text + "}";
  }

  Random random_{4711};
};

std::uint32_t word_of(const Words& words, int lane, int index) {
  return words[static_cast<std::size_t>(lane) * 16 + static_cast<std::size_t>(index)];
}

// --- mma
struct MatrixCase {
  const char* name;  //!< behind mma.sync.aligned
  int m, k, element_bits;
  int a_registers, b_registers, c_registers;
  char kind;  //!< 'h'alf, 'b'float, 't'f32, 's'igned and 'u'nsigned bytes
  bool half_accumulator = false;
};

const MatrixCase matrix_cases[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 16, 2, 1, 4, 'h'},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, 4, 2, 4, 'h'},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, 2, 1, 2, 'h', true},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, 4, 2, 2, 'h', true},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, 2, 1, 4, 'b'},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 16, 4, 2, 4, 'b'},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32, 2, 1, 4, 't'},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, 4, 2, 4, 't'},
    {"m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, 1, 1, 2, 's'},
    {"m8n8k16.row.col.s32.u8.u8.s32", 8, 16, 8, 1, 1, 2, 'u'},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, 2, 1, 4, 's'},
    {"m16n8k32.row.col.s32.s8.s8.s32", 16, 32, 8, 4, 2, 4, 's'},
    {"m16n8k32.row.col.s32.u8.u8.s32", 16, 32, 8, 4, 2, 4, 'u'},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 32, 8, 4, 2, 4, 's'},
};

//! The manual's formulas, one for each shape and type: where element i of a lane's fragment of A lies.
std::pair<int, int> place_in_a(const MatrixCase& c, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  if (c.m == 8) return {group, in_group * 4 + i};
  if (c.element_bits == 8 && c.k == 16) return {i < 4 ? group : group + 8, in_group * 4 + (i & 3)};
  if (c.element_bits == 8)
    return {i < 4 || (i >= 8 && i < 12) ? group : group + 8, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  if (c.element_bits == 32) return {i == 0 || i == 2 ? group : group + 8, in_group + (i < 2 ? 0 : 4)};
  if (c.k == 8) return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
  return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
std::pair<int, int> place_in_b(const MatrixCase& c, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  if (c.element_bits == 8) return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
  if (c.element_bits == 32) return {in_group + (i == 0 ? 0 : 4), group};
  return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
}
std::pair<int, int> place_in_c(int lane, int i) { return {(lane >> 2) + (i < 2 ? 0 : 8), (lane % 4) * 2 + (i & 1)}; }

std::uint64_t element_bits(const Words& words, int lane, int first_word, int i, int bits) {
  const int in_word = 32 / bits;
  const std::uint64_t word = word_of(words, lane, first_word + i / in_word);
  return word >> (bits * (i % in_word)) & ((std::uint64_t{1} << bits) - 1);
}

ExactReal element_value(const MatrixCase& c, std::uint64_t bits) {
  if (c.kind == 'h') return real_of_bits(bits, format_of("f16"));
  if (c.kind == 'b') return real_of_bits(bits, format_of("bf16"));
  return real_of_bits(bits & ~std::uint64_t{0x1fff}, format_of("tf32"));
}

int exponent_of_operand(const MatrixCase& c, const ExactReal& value) {
  const int smallest = c.kind == 'h' ? -14 : -126;
  return std::max(smallest, value.exponent + value.magnitude.bit_length() - 1);
}

//! The place of the last digit that counts, 25 below the largest exponent; then everything is cut off there.
struct Term {
  ExactReal value;
  int exponent;
};
ExactReal cut_off_sum(const std::vector<Term>& terms) {
  int largest = -100'000;
  for (const Term& term : terms)
    if (!term.value.is_zero()) largest = std::max(largest, term.exponent);
  ExactReal total;
  for (Term term : terms) {
    term.value.exponent -= largest - 25;
    ExactReal whole = integral(term.value, Direction::to_zero);
    total = sum(total, whole, Direction::nearest);
  }
  total.exponent += largest - 25;
  if (total.is_zero()) total.negative = false;
  return total;
}

std::uint64_t accumulated(const MatrixCase& c, const std::vector<ExactReal>& a, const std::vector<ExactReal>& b,
                          std::uint64_t accumulator) {
  const RealFormat format = format_of(c.half_accumulator ? "f16" : "f32");
  std::vector<Term> terms;
  for (std::size_t i = 0; i < a.size(); ++i)
    terms.push_back({product(a[i], b[i]), exponent_of_operand(c, a[i]) + exponent_of_operand(c, b[i])});
  const ExactReal start = real_of_bits(accumulator, format);
  terms.push_back({start, std::max(-126, start.exponent + start.magnitude.bit_length() - 1)});
  return bits_of_real(cut_off_sum(terms), format, c.half_accumulator ? Direction::nearest : Direction::to_zero);
}

std::uint32_t accumulated_bytes(const MatrixCase& c, const std::vector<std::uint64_t>& a,
                                const std::vector<std::uint64_t>& b, std::uint32_t accumulator) {
  std::int64_t total = static_cast<std::int32_t>(accumulator);
  const auto number = [&](std::uint64_t bits) -> std::int64_t {
    return c.kind == 's' && bits >= 128 ? static_cast<std::int64_t>(bits) - 256 : static_cast<std::int64_t>(bits);
  };
  for (std::size_t i = 0; i < a.size(); ++i) total += number(a[i]) * number(b[i]);
  if (std::string(c.name).find("satfinite") != std::string::npos)
    total = std::clamp<std::int64_t>(total, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(total);
}

//! Floating-point operands of moderate size, with zeros and subnormal numbers among them, no NaN.
std::uint32_t small_numbers(Random& random, char kind) {
  const auto real = [&](int exponent_bits, int fraction_bits, std::uint64_t spread) {
    const std::uint64_t bias = (1u << (exponent_bits - 1)) - 1;
    const std::uint64_t fraction = random.next() & ((std::uint64_t{1} << fraction_bits) - 1);
    std::uint64_t exponent = bias - spread + random.below(2 * spread);
    if (random.below(12) == 0) exponent = 0;
    const std::uint64_t kept = random.below(20) == 0 ? 0 : fraction;
    return static_cast<std::uint32_t>(random.below(2) << (exponent_bits + fraction_bits) | exponent << fraction_bits |
                                      kept);
  };
  if (kind == 'h') return real(5, 10, 6) | real(5, 10, 6) << 16;
  if (kind == 'b') return real(8, 7, 12) | real(8, 7, 12) << 16;
  if (kind == 't' || kind == 'f') return real(8, 23, 10);
  return static_cast<std::uint32_t>(random.next());
}

//! Words 0 to 3 of a lane are A's registers, 4 and 5 B's, 6 to 9 the accumulators.
Words matrix_input(Random& random, const MatrixCase& c) {
  Words in(warp_size * 16);
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < 10; ++i) {
      const char accumulator = c.kind == 's' || c.kind == 'u' ? 'i' : c.half_accumulator ? 'h' : 'f';
      in[static_cast<std::size_t>(16 * lane + i)] = small_numbers(random, i < 6 ? c.kind : accumulator);
    }
  return in;
}

std::uint32_t wanted_element(const MatrixCase& c, const Words& in, int row, int column, std::uint64_t accumulator) {
  std::vector<std::uint64_t> a(static_cast<std::size_t>(c.k)), b(a);
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int i = 0; i < c.a_registers * 32 / c.element_bits; ++i)
      if (const auto [r, k] = place_in_a(c, lane, i); r == row)
        a[static_cast<std::size_t>(k)] = element_bits(in, lane, 0, i, c.element_bits);
    for (int i = 0; i < c.b_registers * 32 / c.element_bits; ++i)
      if (const auto [k, col] = place_in_b(c, lane, i); col == column)
        b[static_cast<std::size_t>(k)] = element_bits(in, lane, 4, i, c.element_bits);
  }
  if (c.kind == 's' || c.kind == 'u') return accumulated_bytes(c, a, b, static_cast<std::uint32_t>(accumulator));
  std::vector<ExactReal> x, y;
  for (const std::uint64_t bits : a) x.push_back(element_value(c, bits));
  for (const std::uint64_t bits : b) y.push_back(element_value(c, bits));
  return static_cast<std::uint32_t>(accumulated(c, x, y, accumulator));
}

TEST_F(Collectives, MatrixProductsFollowTheManualsLayouts) {
  for (const MatrixCase& c : matrix_cases) {
    std::string body;
    for (int i = 0; i < 10; ++i) body += fmt::format("ld.global.u32 %r{}, [%rd1+{}];\n", 10 + i, 4 * i);
    body += fmt::format("mma.sync.aligned.{} {}, {}, {}, {};\n", c.name, registers(30, c.c_registers),
                        registers(10, c.a_registers), registers(14, c.b_registers), registers(16, c.c_registers));
    for (int i = 0; i < c.c_registers; ++i) body += fmt::format("st.global.u32 [%rd2+{}], %r{};\n", 4 * i, 30 + i);
    for (int round = 0; round < 3; ++round) {
      const Words in = matrix_input(random_, c), out = run(body, in);
      const int bits = c.half_accumulator ? 16 : 32;
      for (int lane = 0; lane < warp_size; ++lane)
        for (int i = 0; i < c.m / 4; ++i) {
          const auto [row, column] = place_in_c(lane, i);
          const std::uint64_t start = element_bits(in, lane, 6, i, bits);
          ASSERT_EQ(element_bits(out, lane, 0, i, bits), wanted_element(c, in, row, column, start))
              << c.name << " row " << row << " column " << column;
        }
    }
  }
}

TEST_F(Collectives, DoublesAreMultipliedTogetherToo) {
  const std::string body =
      "ld.global.f64 %fd1, [%rd1];\nld.global.f64 %fd2, [%rd1+8];\nld.global.f64 %fd3, [%rd1+16];\n"
      "ld.global.f64 %fd4, [%rd1+24];\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd1}, {%fd2}, {%fd3, %fd4};\n"
      "st.global.f64 [%rd2], %fd5;\nst.global.f64 [%rd2+8], %fd6;\n";
  Words in(warp_size * words_of_lane);
  std::vector<double> numbers(warp_size * 8);
  for (double& number : numbers) number = random_.uniform() - 0.5;
  std::memcpy(in.data(), numbers.data(), 4 * in.size());
  const Words out = run(body, in);
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < 2; ++i) {
      const int row = lane >> 2, column = lane % 4 * 2 + i;
      double wanted = numbers[static_cast<std::size_t>(8 * lane + 2 + i)];
      for (int k = 0; k < 4; ++k)  // a(row, k) lies in lane 4 row + k, b(k, column) in lane 4 column + k
        wanted = std::fma(numbers[static_cast<std::size_t>(8 * (4 * row + k))],
                          numbers[static_cast<std::size_t>(8 * (4 * column + k) + 1)], wanted);
      double found = 0;
      std::memcpy(&found, &out[static_cast<std::size_t>(16 * lane + 2 * i)], 8);
      EXPECT_EQ(found, wanted);
    }
}

TEST_F(Collectives, InfinitiesAndNanGoThroughMatrixProducts) {
  Words in(warp_size * words_of_lane);
  in[0] = 0x7c00;  // a(0, 0) is infinite
  for (int lane = 0; lane < warp_size; ++lane)
    in[static_cast<std::size_t>(16 * lane + 4)] = lane == 4 ? 0xbc00 : 0x3c00;
  const Words out = run(
      "ld.global.u32 %r10, [%rd1];\nld.global.u32 %r11, [%rd1+4];\nld.global.u32 %r14, [%rd1+16];\nmov.u32 %r16, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r30,%r31,%r32,%r33}, {%r10,%r11}, {%r14}, "
      "{%r16,%r16,%r16,%r16};\n"
      "st.global.u32 [%rd2], %r30;\nst.global.u32 [%rd2+4], %r31;\n",
      in);
  EXPECT_EQ(out[0], 0x7f800000u);  // times b(0, 0) = 1
  EXPECT_EQ(out[1], 0xff800000u);  // times b(0, 1) = -1
}

// --- ldmatrix, movmatrix
TEST_F(Collectives, LoadMatrixGivesEachLaneTwoNeighbours) {
  // Row i of the tile has the 16-bit numbers 8i to 8i+7; lane l names row 31-l.
  const std::string fill =
      "mov.u64 %rd6, tile;\nmul.wide.u32 %rd7, %r0, 16;\nadd.s64 %rd8, %rd6, %rd7;\nshl.b32 %r1, %r0, 3;\n"
      "mul.lo.u32 %r2, %r1, 65537;\nadd.u32 %r2, %r2, 65536;\nadd.u32 %r3, %r2, 131074;\nadd.u32 %r4, %r3, 131074;\n"
      "add.u32 %r5, %r4, 131074;\nst.shared.v4.u32 [%rd8], {%r2, %r3, %r4, %r5};\nbar.sync 0;\n"
      "sub.u32 %r6, 31, %r0;\nmul.wide.u32 %rd9, %r6, 16;\nadd.s64 %rd9, %rd9, %rd6;\ncvt.u32.u64 %r7, %rd9;\n";
  for (const int matrices : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      std::string body = fill + fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%r7];\n", matrices,
                                            transposed ? ".trans" : "", registers(20, matrices));
      for (int i = 0; i < matrices; ++i) body += fmt::format("st.global.u32 [%rd2+{}], %r{};\n", 4 * i, 20 + i);
      const Words out = run(body, Words(512), ".shared .align 16 .b8 tile[512];\n");
      for (int lane = 0; lane < warp_size; ++lane)
        for (int i = 0; i < matrices; ++i)
          for (int half = 0; half < 2; ++half) {
            const int line = lane / 4, position = lane % 4 * 2 + half;
            const int row = transposed ? position : line, column = transposed ? line : position;
            const int named = 31 - (8 * i + row);
            EXPECT_EQ(word_of(out, lane, i) >> (16 * half) & 0xffff, static_cast<std::uint32_t>(8 * named + column));
          }
    }
}

TEST_F(Collectives, MoveMatrixTransposes) {
  const Words in = random_words();
  const Words out = run(
      "ld.global.u32 %r1, [%rd1];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.u32 [%rd2], %r2;\n", in);
  const auto element = [](const Words& words, int row, int column) {
    return word_of(words, 4 * row + column / 2, 0) >> (16 * (column % 2)) & 0xffff;
  };
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) EXPECT_EQ(element(out, row, column), element(in, column, row));
}

TEST_F(Collectives, AProductMayGoToTheRegistersOfItsSumInAnotherOrder) {
  const std::string product = "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 ";
  const std::string load = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\nmov.u32 %r5, 0;\n";
  const std::string store = "st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};\n";
  const Words in = random_words();
  const Words out =
      run(load + product + "{%r2, %r3, %r4, %r1}, {%r5, %r5}, {%r5}, {%r1, %r2, %r3, %r4};\n" + store, in);
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(word_of(out, lane, (i + 1) % 4), word_of(in, lane, i));
}

// --- cp.async
TEST_F(Collectives, AsyncCopiesAreThereAfterTheWaitAndNotBefore) {
  const Words in = random_words();
  const Words out = run(
      "mov.u64 %rd6, tile;\nmul.wide.u32 %rd7, %r0, 32;\nadd.s64 %rd8, %rd6, %rd7;\ncvt.u32.u64 %r20, %rd8;\n"
      "mov.u32 %r1, 7;\nst.shared.u32 [%rd8], %r1;\nst.shared.u32 [%rd8+16], %r1;\n"
      "cp.async.cg.shared.global [%r20], [%rd1], 16;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r20+16], [%rd1+16], 4;\ncp.async.commit_group;\n"
      "ld.shared.u32 %r2, [%rd8];\ncp.async.wait_group 1;\nld.shared.u32 %r3, [%rd8];\nld.shared.u32 %r4, [%rd8+16];\n"
      "cp.async.wait_all;\nld.shared.u32 %r5, [%rd8+16];\nld.shared.u32 %r6, [%rd8+12];\n"
      "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};\nst.global.u32 [%rd2+16], %r6;\n",
      in, ".shared .align 16 .b8 tile[1024];\n");
  for (int lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(word_of(out, lane, 0), 7u);
    EXPECT_EQ(word_of(out, lane, 1), word_of(in, lane, 0));
    EXPECT_EQ(word_of(out, lane, 2), 7u);
    EXPECT_EQ(word_of(out, lane, 3), word_of(in, lane, 4));
    EXPECT_EQ(word_of(out, lane, 4), word_of(in, lane, 3));
  }
}

TEST_F(Collectives, AsyncCopiesFillUpWithZeros) {
  const Words in = random_words();
  const Words out =
      run("mov.u64 %rd6, tile;\nmul.wide.u32 %rd7, %r0, 16;\nadd.s64 %rd8, %rd6, %rd7;\nand.b32 %r1, %r0, 3;\n"
          "shl.b32 %r1, %r1, 2;\ncp.async.cg.shared.global [%rd8], [%rd1], 16, %r1;\ncp.async.wait_all;\n"
          "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%rd8];\nst.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};\n",
          in, ".shared .align 16 .b8 tile[512];\n");
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(word_of(out, lane, i), i < lane % 4 ? word_of(in, lane, i) : 0u);
}

TEST_F(Collectives, OffsetsOfAsyncCopiesHave64Bits) {
  const Words in = random_words();
  const Words out = run(
      "mov.u64 %rd6, tile;\nmul.wide.u32 %rd7, %r0, 16;\nadd.s64 %rd8, %rd6, %rd7;\nsub.s64 %rd9, %rd1, 8589934592;\n"
      "cp.async.ca.shared.global [%rd8], [%rd9+8589934596], 4;\ncp.async.wait_all;\n"
      "ld.shared.u32 %r2, [%rd8];\nst.global.u32 [%rd2], %r2;\n",
      in, ".shared .align 16 .b8 tile[512];\n");
  for (int lane = 0; lane < warp_size; ++lane) EXPECT_EQ(word_of(out, lane, 0), word_of(in, lane, 1));
  // Cut off to 32 bits it would be inside.
  EXPECT_THROW(run("mov.u64 %rd6, tile;\ncp.async.ca.shared.global [%rd6], [%rd3+4294967296], 4;\n", in,
                   ".shared .align 16 .b8 tile[16];\n"),
               KernelFault);
}

TEST_F(Collectives, AsyncCopiesKeepToTheirBuffers) {
  EXPECT_THROW(run("mov.u64 %rd6, tile;\ncp.async.ca.shared.global [%rd6], [%rd3+2048], 4;\n", random_words(),
                   ".shared .align 16 .b8 tile[16];\n"),
               KernelFault);
  EXPECT_THROW(run("mov.u64 %rd6, tile;\ncp.async.ca.shared.global [%rd6+16], [%rd3], 4;\n", random_words(),
                   ".shared .align 16 .b8 tile[16];\n"),
               KernelFault);
}

// --- match, redux, activemask
TEST_F(Collectives, MatchFindsLanesWithTheSameValue) {
  Words in = random_words();
  for (int lane = 0; lane < warp_size; ++lane) in[static_cast<std::size_t>(16 * lane)] %= 5;
  const Words out =
      run("ld.global.u32 %r1, [%rd1];\nmatch.any.sync.b32 %r2, %r1, -1;\nmatch.all.sync.b32 %r3|%p1, %r1, -1;\n"
          "selp.u32 %r4, 1, 0, %p1;\nmatch.all.sync.b64 %r5|%p2, %rd3, -1;\nselp.u32 %r6, 1, 0, %p2;\n"
          "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};\nst.global.u32 [%rd2+16], %r6;\n",
          in);
  for (int lane = 0; lane < warp_size; ++lane) {
    std::uint32_t same = 0;
    for (int other = 0; other < warp_size; ++other)
      if (word_of(in, lane, 0) == word_of(in, other, 0)) same |= 1u << other;
    EXPECT_EQ(word_of(out, lane, 0), same);
    EXPECT_EQ(word_of(out, lane, 1), 0u);
    EXPECT_EQ(word_of(out, lane, 2), 0u);
    EXPECT_EQ(word_of(out, lane, 3), full_mask);
    EXPECT_EQ(word_of(out, lane, 4), 1u);
  }
}

TEST_F(Collectives, ReductionsGoOverTheMembers) {
  const Words in = random_words();
  const char* operations[] = {"add.s32", "min.s32", "max.s32", "add.u32", "min.u32",
                              "max.u32", "and.b32", "or.b32",  "xor.b32"};
  std::string body = "ld.global.u32 %r1, [%rd1];\nsetp.lt.u32 %p1, %r0, 20;\n";
  for (int i = 0; i < 9; ++i)
    body += fmt::format("@%p1 redux.sync.{} %r2, %r1, 0xfffff;\n@%p1 st.global.u32 [%rd2+{}], %r2;\n", operations[i],
                        4 * i);
  const Words out = run(body + "activemask.b32 %r3;\n@%p1 activemask.b32 %r3;\nst.global.u32 [%rd2+36], %r3;\n", in);
  for (int i = 0; i < 9; ++i) {
    std::int64_t wanted = i == 6 ? -1 : i == 1 || i == 4 ? INT64_MAX : i == 2 ? INT64_MIN : 0;
    for (int lane = 0; lane < 20; ++lane) {
      const std::uint32_t word = word_of(in, lane, 0);
      const std::int64_t value = i < 3 ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word};
      wanted = i % 3 == 0 && i < 6   ? wanted + value
               : i < 6 && i % 3 == 1 ? std::min(wanted, value)
               : i < 6               ? std::max(wanted, value)
               : i == 6              ? wanted & value
               : i == 7              ? wanted | value
                                     : wanted ^ value;
    }
    EXPECT_EQ(word_of(out, 3, i), static_cast<std::uint32_t>(wanted)) << operations[i];
    EXPECT_EQ(word_of(out, 25, i), 0u);
  }
  EXPECT_EQ(word_of(out, 3, 9), 0xfffffu);
  EXPECT_EQ(word_of(out, 25, 9), full_mask);
}

// --- atomics of 16 bits
TEST_F(Collectives, HalvesAddUpAtomically) {
  const Words out =
      run("mov.u32 %r1, 0x40003c00;\nred.global.add.noftz.f16x2 [%rd4], %r1;\nmov.u32 %r2, 0x40003f80;\n"
          "atom.global.add.noftz.bf16x2 %r3, [%rd4+4], %r2;\ncvt.u16.u32 %rs1, %r1;\n"
          "atom.global.add.noftz.f16 %rs2, [%rd4+8], %rs1;\natom.global.cas.b16 %rs3, [%rd4+12], 0, %rs1;\n"
          "setp.eq.u32 %p1, %r0, 31;\ncvt.u32.u16 %r4, %rs2;\ncvt.u32.u16 %r5, %rs3;\n"
          "@%p1 st.global.v2.u32 [%rd4+16], {%r4, %r5};\n",
          Words(512));
  EXPECT_EQ(out[0], 0x54005000u);  // 64 and 32
  EXPECT_EQ(out[1], 0x42804200u);  // 64 and 32
  EXPECT_EQ(out[2], 0x5000u);
  EXPECT_EQ(out[3], 0x3c00u);
  EXPECT_EQ(out[4], 0x4fc0u);  // 31 before the last lane came
  EXPECT_EQ(out[5], 0x3c00u);
}

// --- moves
TEST_F(Collectives, PartsOfRegistersGoTogetherAndApart) {
  const Words in = random_words();
  const Words out =
      run("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nmov.b32 {%rs1, %rs2}, %r1;\n"
          "mov.b32 %r3, {%rs2, %rs1};\nmov.b64 %rd6, {%r1, %r2};\nmov.b64 {%r4, %r5}, %rd6;\nmov.b64 {_, %r6}, %rd6;\n"
          "mov.b64 {%rs3, %rs4, %rs5, %rs6}, %rd6;\nmov.b64 %rd7, {%rs6, %rs5, %rs4, %rs3};\n"
          "st.global.v4.u32 [%rd2], {%r3, %r4, %r5, %r6};\nst.global.u64 [%rd2+16], %rd7;\n",
          in);
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t a = word_of(in, lane, 0), b = word_of(in, lane, 1);
    EXPECT_EQ(word_of(out, lane, 0), a << 16 | a >> 16);
    EXPECT_EQ(word_of(out, lane, 1), a);
    EXPECT_EQ(word_of(out, lane, 2), b);
    EXPECT_EQ(word_of(out, lane, 3), b);
    EXPECT_EQ(word_of(out, lane, 4), b << 16 | b >> 16);
    EXPECT_EQ(word_of(out, lane, 5), a << 16 | a >> 16);
  }
}

TEST_F(Collectives, SpecialRegistersKnowTheLanesAndTheClock) {
  const Words out = run(
      "mov.u32 %r1, %lanemask_eq;\nmov.u32 %r2, %lanemask_lt;\nmov.u32 %r3, %lanemask_le;\nmov.u32 %r4, %lanemask_gt;\n"
      "mov.u32 %r5, %lanemask_ge;\nmov.u32 %r6, %nwarpid;\nmov.u32 %r7, %clock;\nmov.u64 %rd6, %clock64;\n"
      "mov.u32 %r8, %clock;\nmov.u64 %rd7, %clock64;\nsub.u32 %r8, %r8, %r7;\nsub.s64 %rd7, %rd7, %rd6;\n"
      "cvt.u32.u64 %r9, %rd7;\nst.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};\n"
      "st.global.v4.u32 [%rd2+16], {%r5, %r6, %r8, %r9};\n",
      Words(512));
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t own = 1u << lane;
    EXPECT_EQ(word_of(out, lane, 0), own);
    EXPECT_EQ(word_of(out, lane, 1), own - 1);
    EXPECT_EQ(word_of(out, lane, 2), own | (own - 1));
    EXPECT_EQ(word_of(out, lane, 3), ~(own | (own - 1)));
    EXPECT_EQ(word_of(out, lane, 4), ~(own - 1));
    EXPECT_EQ(word_of(out, lane, 5), 1u);
    EXPECT_LT(word_of(out, lane, 6) - 1, 100u);
    EXPECT_LT(word_of(out, lane, 7) - 1, 100u);
  }
}

TEST_F(Collectives, AddressesKnowTheirSpace) {
  const Words out = run(
      ".local .align 4 .b8 own[4];\nmov.u64 %rd6, tile;\ncvta.shared.u64 %rd6, %rd6;\nmov.u64 %rd7, own;\n"
      "cvta.local.u64 %rd7, %rd7;\nisspacep.shared %p1, %rd6;\nisspacep.shared %p2, %rd7;\nisspacep.local %p3, %rd7;\n"
      "isspacep.local %p4, %rd6;\nisspacep.global %p5, %rd3;\nisspacep.global %p6, %rd6;\nisspacep.local %p7, %rd3;\n"
      "mov.u32 %r1, 0;\n@%p1 or.b32 %r1, %r1, 1;\n@%p2 or.b32 %r1, %r1, 2;\n@%p3 or.b32 %r1, %r1, 4;\n"
      "@%p4 or.b32 %r1, %r1, 8;\n@%p5 or.b32 %r1, %r1, 16;\n@%p6 or.b32 %r1, %r1, 32;\n@%p7 or.b32 %r1, %r1, 64;\n"
      "st.global.u32 [%rd2], %r1;\n",
      Words(512), ".shared .align 4 .b8 tile[4];\n");
  EXPECT_EQ(out[0], 1u + 4u + 16u);
}

// --- branches and calls
TEST_F(Collectives, ABranchTableSendsEachLaneItsWay) {
  const std::string body =
      "and.b32 %r1, %r0, 3;\nsetp.ne.u32 %p1, %r1, 3;\nmov.u32 %r2, 99;\n@%p1 brx.idx %r1, ways;\nbra.uni END;\n"
      "ways: .branchtargets FIRST, SECOND, FIRST;\nFIRST:\nmov.u32 %r2, 10;\nbra.uni END;\nSECOND:\nmov.u32 %r2, 20;\n"
      "END:\nst.global.u32 [%rd2], %r2;\n";
  const Words out = run(body, Words(512));
  const std::uint32_t wanted[] = {10, 20, 10, 99};
  for (int lane = 0; lane < warp_size; ++lane) EXPECT_EQ(word_of(out, lane, 0), wanted[lane % 4]);
}

TEST_F(Collectives, FunctionsAreCalledWithValuesAndGiveOneBack) {
  const std::string function =
      ".func (.param .b32 result) scaled(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
      "ld.param.b32 %r1, [x];\nld.param.b32 %r2, [by];\nsetp.eq.u32 %p1, %r2, 0;\nst.param.b32 [result], 1000;\n"
      "@%p1 ret;\nmul.lo.u32 %r3, %r1, %r2;\nst.param.b32 [result], %r3;\nret;\n}\n";
  const std::string body =
      "and.b32 %r1, %r0, 3;\nsetp.gt.u32 %p1, %r1, 1;\nmov.u32 %r2, 5;\n"
      "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b32 [a], %r0;\nst.param.b32 [b], %r1;\n"
      "@%p1 call.uni (c), scaled, (a, b);\n@%p1 ld.param.b32 %r2, [c];\n}\n"
      "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b32 [a], %r2;\nst.param.b32 [b], %r1;\n"
      "call.uni (c), scaled, (a, b);\nld.param.b32 %r3, [c];\n}\nshfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\n"
      "st.global.v2.u32 [%rd2], {%r3, %r4};\n";
  const Words out = run(body, Words(512), function);
  const auto wanted = [](std::uint32_t lane) {
    const std::uint32_t by = lane % 4, first = by > 1 ? lane * by : 5;
    return by == 0 ? 1000 : first * by;
  };
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(word_of(out, static_cast<int>(lane), 0), wanted(lane));
    EXPECT_EQ(word_of(out, static_cast<int>(lane), 1), wanted(lane ^ 1));
  }
}

TEST_F(Collectives, FunctionsMayCallThemselves) {
  // fibonacci(lane % 12): every lane recurses to its own depth.
  const std::string function =
      ".func (.param .b32 result) fibonacci(.param .b32 n)\n{\n.reg .b32 %r<8>;\n.reg .pred %p<2>;\n"
      "ld.param.b32 %r1, [n];\nsetp.gt.u32 %p1, %r1, 1;\n@%p1 bra MORE;\nst.param.b32 [result], %r1;\nret;\nMORE:\n"
      "sub.u32 %r2, %r1, 1;\n{\n.param .b32 a;\n.param .b32 c;\nst.param.b32 [a], %r2;\ncall.uni (c), fibonacci, (a);\n"
      "ld.param.b32 %r3, [c];\n}\nsub.u32 %r4, %r1, 2;\n{\n.param .b32 a;\n.param .b32 c;\nst.param.b32 [a], %r4;\n"
      "call.uni (c), fibonacci, (a);\nld.param.b32 %r5, [c];\n}\nadd.u32 %r6, %r3, %r5;\nst.param.b32 [result], %r6;\n"
      "ret;\n}\n";
  const Words out =
      run("rem.u32 %r1, %r0, 12;\n{\n.param .b32 a;\n.param .b32 c;\nst.param.b32 [a], %r1;\n"
          "call.uni (c), fibonacci, (a);\nld.param.b32 %r2, [c];\n}\nst.global.u32 [%rd2], %r2;\n",
          Words(512), function);
  const std::uint32_t wanted[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int lane = 0; lane < warp_size; ++lane) EXPECT_EQ(word_of(out, lane, 0), wanted[lane % 12]) << lane;
}

TEST_F(Collectives, EndlessRecursionIsAFault) {
  const std::string function = ".func forever()\n{\n.reg .b64 %rd<64>;\ncall.uni forever;\nret;\n}\n";
  EXPECT_THROW(run("call.uni forever;\n", Words(512), function), KernelFault);
}

std::string refusal(const std::function<void()>& decode) try {
  decode();
  return "nothing was refused";
} catch (const ptx::PtxError& error) {
  return error.what();
}

TEST_F(Collectives, WhatIsNotKnownIsRefusedByName) {
  const auto problem = [&](const std::string& body) { return refusal([&] { run(body, Words(512)); }); };
  EXPECT_EQ(problem("call.uni %rd1, ();\n"),
            "PTX line 18: calls through pointers to functions are not known; use templates or a switch");
  EXPECT_EQ(problem("call.uni nobody, ();\n"), "PTX line 18: the function 'nobody' is not known");
  EXPECT_EQ(problem("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32 %r1, %r1, %r1, %r1;\n"),
            "PTX line 18: the instruction 'mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32' is not known");
  EXPECT_EQ(problem("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2}, {%r1, %r2}, {%r3}, {%r1, %r2};\n"),
            "PTX line 18: 4 registers are expected, not 2");
  EXPECT_EQ(problem("cp.async.bulk.commit_group;\n"),
            "PTX line 18: the instruction 'cp.async.bulk.commit_group' is not known");
  EXPECT_EQ(problem("atom.global.add.u32 %r1, [%rd3];\n"),
            "PTX line 18: 'atom.global.add.u32' takes 3 operands, not 2");
  EXPECT_EQ(problem("red.global.add.u32 [%rd3], %r1, %r1, %r1, %r1, %r1;\n"),
            "PTX line 18: 'red.global.add.u32' takes 2 operands, not 6");
  EXPECT_EQ(problem("mov.b32 {}, %r1;\n"), "PTX line 18: 'mov.b32' does not have 0 parts");
}

TEST_F(Collectives, ATrapEndsTheKernel) { EXPECT_THROW(run("trap;\n", Words(512)), KernelFault); }

}  // namespace
}  // namespace cudal1::vgpu
