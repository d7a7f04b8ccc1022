#include "compile/compiler_log.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(CompilerLog, FirstErrorGivesLineColumnAndOneLine) {
  const auto diagnosis = first_error(
      "program.cu(2): warning #177-D: variable \"a\" was declared but never referenced\n  int a;\n      ^\n\n"
      "program.cu(12): error: identifier \"foo\" is undefined\n      x[0]=foo;\n           ^\n\n"
      "program.cu(13): error: another\n");
  EXPECT_EQ(diagnosis.at, (SourcePosition{12, 10}));
  EXPECT_EQ(diagnosis.message, "program.cu(12): identifier \"foo\" is undefined");
}

TEST(CompilerLog, ErrorInAHeaderHasNoPlaceInTheProgram) {
  const auto diagnosis = first_error("mma.h(7): catastrophic error: cannot open source file \"x\"\n");
  EXPECT_EQ(diagnosis.at, SourcePosition{});
  EXPECT_EQ(diagnosis.message, "mma.h(7): cannot open source file \"x\"");
}

TEST(CompilerLog, KernelNameErrorsSpeakOfTheDirective) {
  EXPECT_EQ(first_error("__nv_name_map(2): error: identifier \"k\" is undefined\n").message,
            "kernel named by a directive: identifier \"k\" is undefined");
}

TEST(CompilerLog, WhatTheAssemblerRefusesComesBeforeWarnings) {
  const auto diagnosis = first_error(
      "program.cu(2): warning #177-D: variable \"a\" was declared but never referenced\n  int a;\n      ^\n\n"
      "ptxas fatal   : (C7602) Insufficient registers (80) to compile instruction at line 760\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  EXPECT_EQ(diagnosis.at, SourcePosition{});
  EXPECT_EQ(diagnosis.message, "ptxas (C7602) Insufficient registers (80) to compile instruction at line 760");
}

TEST(CompilerLog, AnyLogGivesAMessage) {
  EXPECT_FALSE(first_error("").message.empty());
  EXPECT_EQ(first_error("\nnvrtc: something else\n").message, "nvrtc: something else");
  EXPECT_LT(first_error("program.cu(1): error: " + std::string(100'000, 'x')).message.size(), 500u);
  EXPECT_EQ(first_error("program.cu(99999999999999999999): error: x").at.line, 0);
}

//! What becomes of an error at this place of a program that starts with a line of another name.
CompilerDiagnosis placed(const std::string& source, const std::string& place) {
  return with_own_line(first_error(place + ": error: no\n"), source);
}

TEST(CompilerLog, LinesThatTheProgramRenamedKeepTheirOwnNumbers) {
  const std::string source = "int a;\n#line 1 \"/etc/passwd\"\nfoo\nbar\n  # 70 \"b.cu\" 2\nbaz\n#line 5\nqux\n";
  EXPECT_EQ(placed(source, "/etc/passwd(2)").at.line, 4);
  EXPECT_EQ(placed(source, "/etc/passwd(2)").message, "program.cu(4): no");
  EXPECT_EQ(placed(source, "b.cu(70)").at.line, 6);
  EXPECT_EQ(placed(source, "b.cu(5)").at.line, 8);
  EXPECT_EQ(placed(source, "program.cu(1)").at.line, 1);
  EXPECT_EQ(placed("#line 40\nfoo\n", "program.cu(40)").message, "program.cu(2): no");
}

TEST(CompilerLog, ARenamedLineThatCannotBeFoundIsLineOne) {
  EXPECT_EQ(placed("#line 2147483647 \"a\\nb\"\nfoo\n", "b(2147483647)").at, (SourcePosition{1, 0}));
  EXPECT_EQ(placed("#define L 9\n#line L\nfoo\n", "x.h(9)").at.line, 1);
}

TEST(CompilerLog, ProgramsThatRenameNothingKeepWhatTheCompilerSays) {
  EXPECT_EQ(placed("foo\n#pragma unroll\n# define x\n", "mma.h(7)").at, SourcePosition{});
  EXPECT_EQ(placed("foo\nbar\n", "program.cu(2)").at.line, 2);
  EXPECT_EQ(placed("/*\n#line 9 \"no.cu\"\n*/\nfoo\n", "program.cu(4)").at.line, 4);
  EXPECT_EQ(placed("#line 9\n", "__nv_name_map(2)").at, SourcePosition{});
}

}  // namespace
}  // namespace cudal1
