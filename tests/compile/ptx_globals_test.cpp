#include "compile/ptx_globals.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

constexpr const char* declarations =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .b8 table[16] = {1, 2, 3, 4};\n"
    ".const .align 4 .u32 fixed = 7;\n";

bool is_read_only(const std::string& name, const std::string& body, const std::string& more = "") {
  const std::string ptx =
      std::string(declarations) + more +
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 1 k_param_0\n)\n{\n.reg .b64 %rd<9>;\n" + body +
      "\nret;\n}\n";
  return read_only_globals(ptx).contains(name);
}

TEST(ReadOnlyGlobals, LoadsAreReading) {
  EXPECT_TRUE(is_read_only("table", ""));
  EXPECT_TRUE(is_read_only("table", "ld.global.f32 %f1, [table+4];"));
  EXPECT_TRUE(is_read_only("table", "mov.u64 %rd1, table;\nadd.s64 %rd2, %rd1, %rd8;\nld.global.nc.f32 %f1, [%rd2];"));
  EXPECT_TRUE(
      is_read_only("table", "mov.b64 %rd1, table; cvta.global.u64 %rd2, %rd1; ld.v2.f32 {%f1, %f2}, [%rd2+8];"));
  EXPECT_TRUE(is_read_only("fixed", "ld.const.u32 %r1, [fixed];"));
  EXPECT_TRUE(is_read_only("table",
                           ".loc 1 3 5\nld.global.f32 %f1, [table];\n.loc 1 2 3, function_name $L__i0, inlined_at "
                           "1 3 5\nst.global.f32 [%rd5], %f1;"));
}

TEST(ReadOnlyGlobals, StoresAreNot) {
  EXPECT_FALSE(is_read_only("table", "st.global.u32 [table], %r1;"));
  EXPECT_FALSE(is_read_only("table", "mov.u64 %rd1, table; st.global.u32 [%rd1+4], %r1;"));
  EXPECT_FALSE(is_read_only("table", "@%p1 st.global.u32 [table], %r1;"));
  EXPECT_FALSE(is_read_only("table", "@!%p1 st.global.u32 [table], %r1;"));
  EXPECT_FALSE(is_read_only("table", "label: st.global.u32 [table], %r1;"));
  EXPECT_FALSE(is_read_only("table", ".loc 1 3 5 st.global.u32 [table], %r1;"));
  EXPECT_FALSE(is_read_only("table", "{ .reg .u64 a; mov.u64 a, table; { st.u32 [a], 1; } }"));
  EXPECT_FALSE(is_read_only("table", "/* ld */ st /* x */ . global.u32 [table], // ld\n %r1;"));
  EXPECT_FALSE(is_read_only("table", "atom.global.add.u32 %r1, [table], 1;"));
  EXPECT_FALSE(is_read_only("table", "red.global.add.u32 [table], 1;"));
  EXPECT_FALSE(is_read_only("fixed", "cvta.const.u64 %rd1, fixed; st.u32 [%rd1], 1;"));
}

TEST(ReadOnlyGlobals, AddressesThatEscapeAreNot) {
  EXPECT_FALSE(is_read_only("table", "mov.u64 %rd1, table; st.global.u64 [%rd5], %rd1;"));
  EXPECT_FALSE(is_read_only("table", "mov.u64 %rd1, table; st.param.b64 [param0], %rd1; call f, (param0);"));
  EXPECT_FALSE(is_read_only("table", "mov.u64 %rd1, table; mov.b64 {%r1, %r2}, %rd1; st.global.u32 [%rd5], %r2;"));
  EXPECT_FALSE(is_read_only("table", "mov.u64 %rd1, table; setp.gt.u64 %p1, %rd1, %rd2;"));
  EXPECT_FALSE(is_read_only("table", "", ".global .u64 pointer = table;\n"));
  EXPECT_FALSE(is_read_only("table", "", ".global .u64 pointers[2] = {generic(table), 0};\n"));
}

TEST(ReadOnlyGlobals, AddressesThatAreComputedWithEscape) {
  for (const char* computation :
       {"and.b64 %rd2, %rd1, 255;", "shl.b64 %rd2, %rd1, 2;", "mul.hi.u64 %rd2, %rd1, 16;", "mul.lo.u64 %rd2, %rd1, 1;",
        "cvt.u32.u64 %r2, %rd1;", "sub.s64 %rd2, %rd8, %rd1;", "add.s64 %rd2, %rd1, %rd1;",
        "mad.lo.s64 %rd2, %rd1, 1, %rd8;", "or.b64 %rd2, %rd1, %rd8;", "mov.b64 {%r1, %r2}, %rd1;"})
    EXPECT_FALSE(is_read_only("table", std::string("mov.u64 %rd1, table; ") + computation)) << computation;
  for (const char* computation :
       {"add.s64 %rd2, %rd8, %rd1;", "sub.s64 %rd2, %rd1, 4;", "mad.lo.s64 %rd2, %rd8, 4, %rd1;",
        "mad.wide.u32 %rd2, %r8, 4, %rd1;", "or.b64 %rd2, %rd1, 4;", "selp.b64 %rd2, %rd1, %rd8, %p1;"})
    EXPECT_TRUE(
        is_read_only("table", std::string("mov.u64 %rd1, table; ") + computation + "ld.global.f32 %f1, [%rd2];"))
        << computation;
}

TEST(ReadOnlyGlobals, AddressesAreFollowedRoundLoops) {
  EXPECT_FALSE(is_read_only("table",
                            "loop: st.u32 [%rd3], 1; mov.u64 %rd3, %rd2; mov.u64 %rd2, %rd1; mov.u64 %rd1, "
                            "table; bra loop;"));
}

TEST(ReadOnlyGlobals, RegistersBelongToTheirFunction) {
  const std::string other = ".visible .entry other()\n{\nmov.u64 %rd1, table; ld.global.u32 %r1, [%rd1];\nret;\n}\n";
  EXPECT_TRUE(is_read_only("table", "st.global.u32 [%rd1], 1;", other));
}

TEST(ReadOnlyGlobals, TextThatBreaksOutOfItsFunctionIsStillSeen) {
  EXPECT_FALSE(is_read_only("table", "ret; } .visible .entry second() { st.global.u32 [table], 1; "));
  EXPECT_FALSE(is_read_only("table", "ret; } .section .debug_str { a: .b8 1,2 } .entry s() { st.u32 [table], 1; "));
}

TEST(ReadOnlyGlobals, ScopedVariablesAreNotTakenForModuleVariables) {
  EXPECT_FALSE(is_read_only("hidden", "{ .global .u32 hidden; st.global.u32 [hidden], 1; }"));
  EXPECT_FALSE(is_read_only("hidden", "{ .global .u32 hidden; ld.global.u32 %r1, [hidden]; }"));
}

TEST(ReadOnlyGlobals, ChainBuiltToNeedManyPassesEndsSoon) {
  std::string body = "st.u32 [%rd20000], 1;";
  for (int i = 20000; i > 0; --i) body += "mov.u64 %rd" + std::to_string(i) + ", %rd" + std::to_string(i - 1) + ";\n";
  EXPECT_FALSE(is_read_only("table", body + "mov.u64 %rd0, table;"));
}

TEST(ReadOnlyGlobals, SurvivesGarbage) {
  for (const char* text : {"", "{", "}", "\"", "/*", ".global", ".global .u32", ".const .attribute(", "{ .loc", "{ @",
                           "{ ; } }", ".global .u32 a = {", "(", "{ mov", "{ : : ; }"})
    EXPECT_LE(read_only_globals(text).size(), 1u) << text;
}

}  // namespace
}  // namespace cudal1
