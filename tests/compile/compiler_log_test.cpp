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

TEST(CompilerLog, AnyLogGivesAMessage) {
  EXPECT_FALSE(first_error("").message.empty());
  EXPECT_EQ(first_error("\nnvrtc: something else\n").message, "nvrtc: something else");
  EXPECT_LT(first_error("program.cu(1): error: " + std::string(100'000, 'x')).message.size(), 500u);
  EXPECT_EQ(first_error("program.cu(99999999999999999999): error: x").at.line, 0);
}

}  // namespace
}  // namespace cudal1
