#include "cli/printable.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("größer als 1 µs: \"x\" → 語 😀"), "größer als 1 µs: \"x\" → 語 😀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatMovesTheCursorOrEndsTheLine) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\x1b[2Jgone\x7f"), "\\x1b[2Jgone\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("a\u0085b"), "a\\u0085b");
  EXPECT_EQ(printable("a\u2028b\u2029c"), "a\\u2028b\\u2029c");
}

TEST(Printable, EscapesWhatTurnsTheDirectionOfWriting) {
  EXPECT_EQ(printable("\u202aa\u202eb"), "\\u202aa\\u202eb");
  EXPECT_EQ(printable("\u2066a\u2069b"), "\\u2066a\\u2069b");
  EXPECT_EQ(printable("\ufeffa"), "\\ufeffa");
}

TEST(Printable, ShowsTheBytesOfWhatIsNoUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(OneLine, EndsAtALineEndButNotInsideAName) {
  EXPECT_EQ(one_line("it failed\nframe #0: …"), "it failed");
  EXPECT_EQ(one_line("\"a\nb\" is not a name: letters only\nmore"), "\"a\\nb\" is not a name: letters only");
  EXPECT_EQ(one_line("no kernel 'a\nb' here\nmore"), "no kernel 'a\\nb' here");
}

TEST(OneLine, TakesNoApostropheForAQuotation) {
  EXPECT_EQ(one_line("it doesn't work\nthe device's fault"), "it doesn't work");
  EXPECT_EQ(one_line("a stray \" mark\nmore"), "a stray \" mark");
}

TEST(PrintableLines, KeepsLinesAndTabs) { EXPECT_EQ(printable_lines("a\n\tb\x1b"), "a\n\tb\\x1b"); }

}  // namespace
}  // namespace cudal1
