#include "device/vgpu/ptx/parser.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace cudal1::ptx {
namespace {

const std::string head = ".version 7.0\n.target sm_80\n.address_size 64\n";

Function only_function(const std::string& body) {
  const Module module = parse(head + ".visible .entry k(.param .u64 p)\n{\n" + body + "\n}\n");
  return module.functions.at(0);
}

Instruction only_instruction(const std::string& text) { return only_function(text).instructions.at(0); }

//! The message of the error that this text gives; empty if there is none.
std::string problem_with(const std::string& ptx) try {
  parse(ptx);
  return "";
} catch (const PtxError& error) {
  return error.what();
}

TEST(PtxParser, ReadsTheHead) {
  const Module module = parse(head);
  EXPECT_EQ(module.version, "7.0");
  EXPECT_EQ(module.target, "sm_80");
}

TEST(PtxParser, ReadsVariablesOfAModule) {
  const Module module = parse(head +
                              ".visible .const .align 4 .b8 table[8] = {0, 0, 128, 63, 255};\n"
                              ".weak .shared .align 16 .b8 tile[256];\n"
                              ".extern .shared .align 4 .b8 dynamic[];\n"
                              ".global .f32 two = 0f40000000;\n"
                              ".global .v4 .f32 four, more[2][3];\n");
  ASSERT_EQ(module.variables.size(), 6u);
  const Variable& table = module.variables[0];
  EXPECT_EQ(table.space, Space::constant);
  EXPECT_EQ(table.bytes(), 8u);
  EXPECT_EQ(table.initial, (std::vector<std::uint8_t>{0, 0, 128, 63, 255, 0, 0, 0}));
  EXPECT_EQ(module.variables[1].alignment, 16u);
  EXPECT_TRUE(module.variables[2].external);
  EXPECT_EQ(module.variables[2].bytes(), 0u);
  EXPECT_EQ(module.variables[3].initial, (std::vector<std::uint8_t>{0, 0, 0, 64}));
  EXPECT_EQ(module.variables[4].alignment, 16u);
  EXPECT_EQ(module.variables[5].bytes(), 96u);
}

TEST(PtxParser, ReadsAFunctionWithItsRegistersAndLimits) {
  const Module module = parse(head +
                              ".visible .func (.param .b32 result) twice(.param .b32 x)\n{\n"
                              ".reg .f32 %f<5>;\n.reg .b64 %SP, %SPL;\nret;\n}\n"
                              ".visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24])\n"
                              ".maxntid 256, 1, 1\n.minnctapersm 2\n{\nret;\n}\n"
                              ".extern .func vprintf(.param .b64 a);\n");
  ASSERT_EQ(module.functions.size(), 3u);
  const Function* twice = module.find("twice");
  ASSERT_TRUE(twice);
  EXPECT_FALSE(twice->is_entry);
  EXPECT_EQ(twice->results.size(), 1u);
  ASSERT_EQ(twice->registers.size(), 3u);
  EXPECT_EQ(twice->registers[0].count, 5u);
  EXPECT_EQ(twice->registers[1].name, "%SP");
  const Function* kernel = module.find("k");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->is_entry);
  EXPECT_EQ(kernel->parameters.at(1).bytes(), 24u);
  EXPECT_EQ(kernel->limits.at("maxntid"), (std::vector<std::uint32_t>{256, 1, 1}));
  EXPECT_TRUE(module.find("vprintf")->is_declaration);
}

TEST(PtxParser, ReadsOpcodesGuardsAndOperands) {
  const Instruction load = only_instruction("@!%p1 ld.global.nc.v2.f32 {%f1, %f2}, [%rd4+-28];");
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.full_opcode(), "ld.global.nc.v2.f32");
  ASSERT_TRUE(load.guard);
  EXPECT_EQ(load.guard->predicate, "%p1");
  EXPECT_TRUE(load.guard->negated);
  ASSERT_EQ(load.operands.size(), 2u);
  EXPECT_EQ(load.operands[0].elements.at(1).name, "%f2");
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(load.operands[1].elements.at(0).name, "%rd4");
  EXPECT_EQ(load.operands[1].offset, -28);
  EXPECT_EQ(only_instruction("mov.u32 %r3, %ctaid.x;").operands.at(1).name, "%ctaid.x");
  EXPECT_EQ(only_instruction("ld.shared::cta.b32 %r1, [tile+16];").modifiers.at(0), "shared::cta");
  EXPECT_EQ(only_instruction("setp.lt.s32 %p1|%p2, %r1, 5;").operands.size(), 4u);
  EXPECT_TRUE(only_instruction("selp.b32 %r1, 1, 0, !%p1;").operands.at(3).negated);
}

TEST(PtxParser, OffsetsReachFromTheSmallestToTheLargestNumber) {
  EXPECT_EQ(only_instruction("st.b32 [%rd1+-9223372036854775808], %r1;").operands[0].offset, INT64_MIN);
  EXPECT_EQ(only_instruction("st.b32 [%rd1-9223372036854775808], %r1;").operands[0].offset, INT64_MIN);
  EXPECT_EQ(only_instruction("st.b32 [%rd1+9223372036854775807], %r1;").operands[0].offset, INT64_MAX);
}

TEST(PtxParser, ReadsNumbersAsTheBitsTheyAre) {
  const auto immediate = [](const std::string& text) {
    return only_instruction("mov.b64 %rd1, " + text + ";").operands.at(1);
  };
  EXPECT_EQ(immediate("-1").bits, ~std::uint64_t{0});
  EXPECT_EQ(immediate("0x7fU").bits, 127u);
  EXPECT_EQ(immediate("017").bits, 15u);
  EXPECT_EQ(immediate("0b101").bits, 5u);
  EXPECT_EQ(immediate("0").bits, 0u);
  EXPECT_EQ(immediate("18446744073709551615").bits, ~std::uint64_t{0});
  EXPECT_EQ(immediate("0f3F800000").bits, 0x3f800000u);
  EXPECT_TRUE(immediate("0f3F800000").single);
  EXPECT_EQ(immediate("-0f3F800000").bits, 0xbf800000u);
  EXPECT_EQ(std::bit_cast<double>(immediate("0d3FF8000000000000").bits), 1.5);
  EXPECT_EQ(std::bit_cast<double>(immediate("-2.5e-1").bits), -0.25);
}

TEST(PtxParser, KnowsWhereAnInstructionComesFrom) {
  const Module module = parse(head +
                              ".entry k()\n{\n.loc 1 13 50\nadd.s32 %r1, %r1, 1;\n"
                              ".loc 2 7 3, function_name info0, inlined_at 1 13 50\nret;\n}\n"
                              ".file 1 \"softmax.cu\"\n.file 2 \"header.h\", 17, 4\n"
                              ".section .debug_str { .b8 1, 2 { } }\n");
  const auto& instructions = module.functions.at(0).instructions;
  EXPECT_EQ(instructions.at(0).at.line, 13);
  EXPECT_EQ(instructions.at(0).at.column, 50);
  EXPECT_EQ(instructions.at(0).at.ptx_line, 7);
  EXPECT_EQ(instructions.at(1).at.file, 2);
  EXPECT_EQ(module.files.at(2), "header.h");
}

TEST(PtxParser, LabelsStandForTheInstructionAfterThem) {
  const Function function = only_function("bra.uni L2;\nL1:\nL2: ret;\nts: .branchtargets L1, L2;\nL3:");
  EXPECT_EQ(function.labels.at("L1"), 1u);
  EXPECT_EQ(function.labels.at("L2"), 1u);
  EXPECT_EQ(function.labels.at("L3"), 2u);
  EXPECT_EQ(function.branch_targets.at("ts"), (std::vector<std::string>{"L1", "L2"}));
}

TEST(PtxParser, NamesOfTwoCallsAreTwoVariables) {
  const std::string call =
      "{ .param .b32 param0;\nst.param.f32 [param0+0], %f1;\n.param .b64 retval0;\n"
      "call.uni (retval0), helper, (param0);\nld.param.b64 %rd1, [retval0+0];\n}\n";
  const Function function = only_function(".param .b32 outer;\n" + call + call + "st.param.b32 [outer], %r1;");
  ASSERT_EQ(function.variables.size(), 5u);
  EXPECT_EQ(function.variables[0].name, "outer");
  EXPECT_NE(function.variables[1].name, function.variables[3].name);
  const Instruction& second_store = function.instructions.at(3);
  EXPECT_EQ(second_store.operands[0].elements.at(0).name, function.variables[3].name);
  const Instruction& second_call = function.instructions.at(4);
  EXPECT_EQ(second_call.operands.at(0).elements.at(0).name, function.variables[4].name);
  EXPECT_EQ(second_call.operands.at(1).name, "helper");
  EXPECT_EQ(function.instructions.at(6).operands[0].elements.at(0).name, "outer");
}

TEST(PtxParser, SaysWhatItDoesNotKnowAndWhere) {
  EXPECT_EQ(problem_with(head + ".wonder .b32 x;"), "PTX line 4: the directive '.wonder' is not known");
  EXPECT_EQ(problem_with(head + ".entry k()\n{\nadd.s32 %r1 %r2;\n}"), "PTX line 6: ';' expected, not '%r2'");
  EXPECT_EQ(problem_with(head + ".entry k()\n{\nret;\n"), "PTX line 7: a function has no end");
  EXPECT_EQ(problem_with(head + ".address_size 32"), "PTX line 4: only 64-bit addresses are known");
  EXPECT_EQ(problem_with("/* never ends"), "PTX line 1: a comment has no end");
  EXPECT_EQ(problem_with(head + ".entry k()\n{\nL: ret;\nL: ret;\n}"), "PTX line 7: the label 'L' is there twice");
  EXPECT_EQ(problem_with(head + ".global .b8 x[4] = {1, 2, 3, 4, 5};"),
            "PTX line 4: more initial values than elements");
  EXPECT_NE(problem_with(head + ".global .b8 x[99999999999];"), "");
  EXPECT_EQ(problem_with(head + ".global .b8 x[4294967296][4294967296];"), "PTX line 4: an array is too large");
  EXPECT_EQ(problem_with(head + ".global .b64 x[4294967296] = {1};"),
            "PTX line 4: an array with initial values is too large");
  EXPECT_NE(problem_with(head + ".entry k() { mov.b32 %r1, 0f123; }"), "");
  EXPECT_NE(problem_with(head + ".entry k() " + std::string(100000, '{')), "");
  EXPECT_NE(problem_with(head + ".entry k() { x " + std::string(100000, '(') + "; }"), "");
}

}  // namespace
}  // namespace cudal1::ptx
