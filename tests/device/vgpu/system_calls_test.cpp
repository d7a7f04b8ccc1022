// printf and assert on the device.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/machine/print_format.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

// --- what a format means

std::string printed(std::string_view format, std::vector<std::uint64_t> values = {}) {
  std::size_t next = 0;
  const PrintArguments arguments{[&](std::size_t) { return values.at(next++); },
                                 [](std::uint64_t address) { return "text " + std::to_string(address); }};
  Printed result = print_format(format, arguments);
  EXPECT_EQ(result.arguments, static_cast<int>(values.size())) << format;
  return result.text;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(PrintFormat, NumbersAsCPrintsThem) {
  EXPECT_EQ(printed("%d %i %u|", {7, std::uint32_t(-3), 0xffffffffu}), "7 -3 4294967295|");
  EXPECT_EQ(printed("%05d|%-5d|%+d|%x|%#X|%o", {42, 42, 42, 255, 255, 8}), "00042|42   |+42|ff|0XFF|10");
  EXPECT_EQ(printed("%lld %lu %zu", {std::uint64_t(-5), 1ull << 40, 9}), "-5 1099511627776 9");
  EXPECT_EQ(printed("%f %.3f %8.2e %g", {bits(0.5), bits(2.0 / 3), bits(12345.0), bits(1e-9)}),
            "0.500000 0.667 1.23e+04 1e-09");
  EXPECT_EQ(printed("%*d|%.*f", {6, 42, 1, bits(0.25)}), "    42|0.2");
}

TEST(PrintFormat, TextAndTheRest) {
  EXPECT_EQ(printed("%s, %c, 100%%", {12, 'x'}), "text 12, x, 100%");
  EXPECT_EQ(printed("%.4s|%9s|", {1, 1}), "text|   text 1|");
  EXPECT_EQ(printed("%p", {0x1000}), "0x1000");
}

TEST(PrintFormat, WhatIsNoConversionStaysAsItIs) {
  EXPECT_EQ(printed("%n %y %!d 5%"), "%n %y %!d 5%");
  EXPECT_EQ(printed("%-"), "%-");
}

TEST(PrintFormat, NoWidthFillsTheMemory) {
  EXPECT_LE(printed("%2000000000d", {1}).size(), 1024u);
  EXPECT_LE(printed("%*d", {0x7fffffff, 1}).size(), 1024u);
  EXPECT_LE(printed("%.999999999f", {bits(1.0)}).size(), 1100u);
}

// --- calls

constexpr std::uint64_t text_address = 0x10000;

class SystemCalls : public ::testing::Test {
 protected:
  //! A kernel that calls a function with these values, and stores what it returns.
  static std::string call_of_printf(const std::string& format) {
    return ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.local .align 8 .b8 depot[16];\nmov.u32 %r1, %ctaid.x;\n"
           "mov.u32 %r2, %tid.x;\nst.local.u32 [depot], %r1;\nst.local.u32 [depot+4], %r2;\n"
           "mov.u64 %rd1, depot;\ncvta.local.u64 %rd1, %rd1;\n{\n.param .b64 a;\nst.param.b64 [a+0], " +
           format +
           ";\n.param .b64 b;\nst.param.b64 [b+0], %rd1;\n.param .b32 c;\n"
           "call.uni (c), vprintf, (a, b);\nld.param.b32 %r3, [c+0];\n}\n"
           "setp.ne.s32 %p1, %r3, 2;\n@%p1 trap;\nret;\n";
  }

  void load(const std::string& body) {
    module_ = ptx::parse(
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
        ".entry k()\n{\n.reg .pred %p<2>;\n" +
        body + "}\n");
    kernel_ = decode(module_, *module_.find("k"), {});
  }

  void run(std::uint32_t blocks, std::uint32_t threads) {
    GlobalMemory memory;
    memory.add({text_address, text_.size() + 1, reinterpret_cast<std::byte*>(text_.data()), "text", false});
    Launch launch;
    launch.kernel = &kernel_;
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.printed = &out_;
    launch.threads = 4;
    run_grid(launch, memory);
  }

  ptx::Module module_;
  Kernel kernel_;
  std::string text_;
  PrintedText out_;
};

TEST_F(SystemCalls, EveryThreadPrintsInTheOrderOfBlocks) {
  text_ = "block %d thread %d\n";
  load(call_of_printf(std::to_string(text_address)));
  run(40, 3);
  std::string expected;
  for (int block = 0; block < 40; ++block)
    for (int thread = 0; thread < 3; ++thread)
      expected += "block " + std::to_string(block) + " thread " + std::to_string(thread) + "\n";
  EXPECT_EQ(out_.text(), expected);
  EXPECT_TRUE(out_.complete());
}

TEST_F(SystemCalls, WhatIsPrintedHasAnEnd) {
  text_ = "%d %d a line that is long enough to come to the end soon\n";
  load(call_of_printf(std::to_string(text_address)));
  run(100, 32);
  EXPECT_EQ(out_.text().size(), PrintedText::most_bytes);
  EXPECT_FALSE(out_.complete());
}

TEST_F(SystemCalls, AFormatThatIsNoTextIsAFault) {
  text_ = "%d %d";
  load(call_of_printf("4660"));
  try {
    run(1, 1);
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  }
}

TEST_F(SystemCalls, AFailedAssertNamesConditionFunctionAndPlace) {
  text_ = std::string("i < 3\0k\0program.cu", 18);
  const auto text = [](std::uint64_t offset) { return std::to_string(text_address + offset); };
  load(
      ".reg .b32 %r<4>;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra GOOD;\n.loc 1 12 5\n{\n"
      ".param .b64 a;\nst.param.b64 [a], " +
      text(0) + ";\n.param .b64 b;\nst.param.b64 [b], " + text(8) +
      ";\n.param .b32 c;\nst.param.b32 [c], 12;\n.param .b64 d;\nst.param.b64 [d], " + text(6) +
      ";\n.param .b64 e;\nst.param.b64 [e], 1;\ncall.uni __assertfail, (a, b, c, d, e);\n}\nGOOD:\nret;\n");
  EXPECT_NO_THROW(run(2, 3));
  try {
    run(2, 32);
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::assertion);
    EXPECT_STREQ(fault.what(),
                 "assertion: 'i < 3' does not hold in k, program.cu:12 (line 12, block (0, 0, 0), thread (3, 0, 0))");
  }
}

TEST_F(SystemCalls, ACallThatIsNotAsTheDeviceHasItIsRefused) {
  EXPECT_THROW(load("{\n.param .b64 a;\n.param .b32 c;\ncall.uni (c), vprintf, (a);\n}\nret;\n"), ptx::PtxError);
  EXPECT_THROW(load("{\n.param .b64 a;\n.param .b64 b;\ncall.uni vprintf, (a, b);\n}\nret;\n"), ptx::PtxError);
}

}  // namespace
}  // namespace cudal1::vgpu
