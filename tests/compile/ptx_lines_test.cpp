#include "compile/ptx_lines.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

constexpr const char* ptx =
    ".version 7.5\n"                                               // 1
    ".visible .entry k()\n{\n"                                     // 2, 3
    "\t.loc\t1 12 5\n"                                             // 4
    "\tmov.u32 \t%r1, %r2;\n"                                      // 5
    "\t.loc\t1 20 1, function_name $L__info, inlined_at 1 13 2\n"  // 6
    "\tret;\n}\n"                                                  // 7, 8
    ".func other()\n{\n\tret;\n}\n";                               // 9 to 12

TEST(PtxLines, AreThoseOfTheLocationAbove) {
  EXPECT_EQ(source_line_of(ptx, 5), 12);
  EXPECT_EQ(source_line_of(ptx, 7), 20);
}

TEST(PtxLines, AreUnknownBeforeTheFirstLocationOfAFunction) {
  EXPECT_EQ(source_line_of(ptx, 0), 0);
  EXPECT_EQ(source_line_of(ptx, 3), 0);
  EXPECT_EQ(source_line_of(ptx, 11), 0);
  EXPECT_EQ(source_line_of(ptx, 1000), 0);
}

}  // namespace
}  // namespace cudal1
