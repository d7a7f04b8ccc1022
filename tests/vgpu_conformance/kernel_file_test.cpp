// The format of kernel files, buffers and comparisons.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/result.hpp"
#include "comparison.hpp"
#include "references.hpp"

namespace cudal1::conformance {
namespace {

const std::string head =
    "// A kernel.\n"
    "//! define BLOCK=64 TYPE=f32 ERROR=1e-5\n"
    "//! variant plain: BLOCK=128\n"
    "//! variant half: TYPE=f16 ERROR=1e-3\n"
    "//! let n = 1048576 small 4096\n"
    "//! let blocks = (n + BLOCK - 1) / BLOCK\n"
    "//! input x TYPE[n] random\n"
    "//! buffer y TYPE[2*n] poison\n"
    "//! launch scale<BLOCK, true> grid=(blocks,2) block=(BLOCK) shared=(4*BLOCK) args=(x, y, i32:n-1, f32:2.5)\n"
    "//! reference scale\n"
    "//! check y exactly, reference relative ERROR\n";

Case case_of(const std::string& text, const std::string& variant, Size size) {
  const KernelFile file = parse_kernel_file("folder/scale.cu", text);
  for (const Variant& found : file.variants)
    if (found.name == variant) return make_case(file, found, size);
  throw Error("no such variant");
}

std::string error_of(const std::string& text) try {
  const KernelFile file = parse_kernel_file("k.cu", text);
  make_case(file, file.variants.front(), Size::full);
  return "no error";
} catch (const Error& error) {
  return error.what();
}

TEST(KernelFile, AVariantHasItsMacrosAndSizes) {
  const Case plain = case_of(head, "plain", Size::small);
  EXPECT_EQ(plain.name(), "scale.plain");
  EXPECT_EQ(plain.values.at("n"), 4096);
  EXPECT_TRUE(plain.source.starts_with("#define BLOCK 128\n"));
  ASSERT_EQ(plain.launches.size(), 1u);
  const LaunchSpec& launch = plain.launches[0];
  EXPECT_EQ(launch.kernel, "scale<BLOCK, true>");
  EXPECT_EQ(launch.grid, (Size3{32, 2, 1}));
  EXPECT_EQ(launch.block, (Size3{128, 1, 1}));
  EXPECT_EQ(launch.shared_bytes, 512u);
  EXPECT_EQ(launch.arguments[1].buffer, "y");
  EXPECT_EQ(launch.arguments[2].number.size(), 4u);
  EXPECT_EQ(launch.arguments[2].number[0], std::byte{0xff});
  EXPECT_EQ(case_of(head, "half", Size::full).launches[0].grid[0], 16384u);
}

TEST(KernelFile, TypesAndBoundsMayBeMacros) {
  const Case half = case_of(head, "half", Size::small);
  EXPECT_EQ(half.buffer("x").dtype, Dtype::f16);
  EXPECT_FALSE(half.buffer("x").writable);
  EXPECT_EQ(half.buffer("y").bytes(), 2u * 8192u);
  EXPECT_EQ(half.checks[0].devices.kind, Bound::Kind::exactly);
  EXPECT_EQ(half.checks[0].reference.amount, 1e-3);
}

TEST(KernelFile, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of("//! buffer y f32[n] zero\n"), "k.cu:1: 'n' is no number and not defined");
  EXPECT_EQ(error_of("// text\n//! buffer y f33[4] zero\n"), "k.cu:2: 'f33' is no type of a buffer");
  EXPECT_EQ(error_of("//! frobnicate\n"), "k.cu:1: 'frobnicate' is no directive");
  EXPECT_EQ(error_of("//! buffer y f32[4] full\n"),
            "k.cu:1: contents are random, zero, one, iota, poison, 'below N' or 'between A B'");
  EXPECT_EQ(error_of("//! launch k grid=(1) block=(1) args=(z)\n"), "k.cu:1: 'z' is no buffer");
  EXPECT_EQ(error_of("//! launch k block=(1) args=()\n"), "k.cu:1: a launch needs grid=");
  EXPECT_EQ(error_of("//! launch k grid=(0) block=(1) args=()\n"), "k.cu:1: '0' is zero");
  EXPECT_EQ(error_of("//! variant a\n"), "k.cu:1: 'variant' is NAME: MACRO=VALUE …");
  EXPECT_EQ(error_of("//! define A\n"), "k.cu:1: 'A' is not NAME=VALUE");
  EXPECT_EQ(error_of("//! buffer y f32[1] zero\n//! check y about\n"),
            "k.cu:2: a bound is 'exactly', 'within N ulp' or 'relative E'");
  EXPECT_EQ(error_of("__global__ void k() {}\n"), "k.cu: nothing is launched");
}

TEST(KernelFile, ExpressionsFollowTheUsualOrder) {
  const Values values{{"n", 10}};
  EXPECT_EQ(evaluate("1 + 2*3 - n/4 % 3", values), 5);
  EXPECT_EQ(evaluate("-(n + 1) * 2", values), -22);
  EXPECT_THROW(evaluate("n / (n - 10)", values), Error);
  EXPECT_THROW(evaluate("(n", values), Error);
  EXPECT_THROW(evaluate("n n", values), Error);
  EXPECT_THROW(evaluate("", values), Error);
}

TEST(KernelFile, ContentsAreTheSameEverywhere) {
  const BufferSpec spec{"x", Dtype::u32, 3, {Contents::Kind::random}, true};
  EXPECT_EQ(initial_bytes(spec), initial_bytes(spec));
  const Bytes below = initial_bytes({"x", Dtype::i32, 1000, {Contents::Kind::below, 0, 7}, true});
  const auto numbers = view<std::int32_t>(below);
  EXPECT_EQ(std::set<std::int32_t>(numbers.begin(), numbers.end()), (std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(std::isnan(element(initial_bytes({"x", Dtype::f16, 1, {Contents::Kind::poison}, true}), Dtype::f16, 0)));
}

TEST(KernelFile, SixteenBitNumbersRoundToNearest) {
  EXPECT_EQ(Half(1.0).bits, 0x3c00);
  EXPECT_EQ(Half(-0.0).bits, 0x8000);
  EXPECT_EQ(Half(65519.0).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0).bits, 0x7c00);
  EXPECT_EQ(Half(1.0 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(Half(1.0 + 0x3p-11).bits, 0x3c02);
  EXPECT_EQ(Half(0x1p-24).bits, 1);
  EXPECT_EQ(Half(0x1.ffp-15).bits, 0x03fe);
  EXPECT_EQ(Bfloat(1.0 + 0x1p-8).bits, 0x3f80);
  EXPECT_EQ(Bfloat(1.0 + 0x3p-8).bits, 0x3f82);
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    EXPECT_EQ(Half(static_cast<float>(half)).bits, bits);
  }
}

TEST(KernelFile, ComparisonsKeepTheirBounds) {
  const BufferSpec spec{"y", Dtype::f32, 2, {}, true};
  Bytes a(8), b(8);
  view<float>(a)[0] = 1.0f;
  view<float>(b)[0] = 1.0f + 0x1p-22f;  // two units in the last place
  EXPECT_TRUE(compare(spec, {Bound::Kind::ulp, 2.0}, b, a).ok());
  EXPECT_FALSE(compare(spec, {Bound::Kind::ulp, 1.5}, b, a).ok());
  EXPECT_FALSE(compare(spec, {}, b, a).ok());
  EXPECT_TRUE(compare(spec, {}, a, a).ok());
  EXPECT_TRUE(compare(spec, {Bound::Kind::relative, 1e-6}, b, a).ok());
  EXPECT_FALSE(compare(spec, {Bound::Kind::relative, 1e-7}, b, a).ok());
  view<float>(b)[0] = NAN;
  EXPECT_FALSE(compare(spec, {Bound::Kind::relative, 1e9}, b, a).ok());
  EXPECT_EQ(compare(spec, {}, b, a).message, "y[0] is nan, expected 1");
}

TEST(KernelFile, EveryFileIsWellFormedAtBothSizes) {
  std::size_t families = 0, variants = 0;
  const auto files = read_kernel_folder(CUDAL1_SOURCE_DIR "/tests/vgpu_conformance/kernels");
  for (const KernelFile& file : files) {
    for (const Variant& variant : file.variants)
      for (const Size size : {Size::small, Size::full})
        EXPECT_NO_THROW(find_reference(make_case(file, variant, size).reference)) << file.path;
    if (file.variants.size() < 5) continue;
    ++families;
    variants += file.variants.size();
  }
  EXPECT_GE(files.size(), 110u);
  EXPECT_GE(families, 60u);
  EXPECT_GE(variants, 400u);
}

}  // namespace
}  // namespace cudal1::conformance
