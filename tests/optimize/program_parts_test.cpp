// Parts of a program, and programs without some of them.
#include "optimize/program_parts.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

std::vector<std::string> texts(const std::vector<ProgramPart>& parts) {
  std::vector<std::string> found;
  for (const ProgramPart& part : parts) found.push_back(part.text);
  return found;
}

TEST(ProgramParts, AreDirectivesInTheirOrder) {
  const auto parts = parts_of("//! fuse add_1 relu_1 : vector=4\n//! graph\n__global__ void k() {}\n");
  EXPECT_EQ(texts(parts), (std::vector<std::string>{"fuse add_1 relu_1 : vector=4", "graph"}));
  EXPECT_EQ(parts[0].lines, std::set<int>{1});
  EXPECT_EQ(parts[1].lines, std::set<int>{2});
}

TEST(ProgramParts, AProgramWithoutDirectivesHasNone) {
  EXPECT_TRUE(parts_of("").empty());
  EXPECT_TRUE(parts_of("// fuse add_1\nconst char* text = \"//! graph\";\n/*\n//! graph\n*/\n").empty());
}

TEST(ProgramParts, ADirectiveHasAllItsLines) {
  const auto parts = parts_of("// text\n//! kernel k replaces add_1 : grid=1 \\\n//!   block=32 args=()\n//! graph");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].lines, (std::set<int>{2, 3}));
  EXPECT_EQ(parts[0].text, "kernel k replaces add_1 : grid=1 block=32 args=()");
}

TEST(ProgramParts, AGroupHasItsLaunches) {
  const auto parts = parts_of(
      "//! group sum replaces sum_1\n"
      "//! launch first : grid=1 block=32 args=(x)\n"
      "void code();\n"
      "//! launch second : grid=1 block=32 args=(x)\n"
      "//! fuse relu_1\n");
  EXPECT_EQ(texts(parts), (std::vector<std::string>{"group sum replaces sum_1", "fuse relu_1"}));
  EXPECT_EQ(parts[0].lines, (std::set<int>{1, 2, 4}));
}

TEST(ProgramParts, BuffersAndPreparationsServeOthers) {
  const auto parts = parts_of(
      "//! buffer packed f32 [8]\n//! prepare pack : grid=1 block=8 args=(w, packed)\n"
      "//! kernel use replaces add_1 : grid=1 block=8 args=(packed, add_1)\n");
  EXPECT_EQ(parts.size(), 1u);
}

TEST(WithoutLines, KeepsTheNumbersOfAllOtherLines) {
  EXPECT_EQ(without_lines("a\nb\nc\n", {2}), "a\n\nc\n");
  EXPECT_EQ(without_lines("a\nb\nc", {1}), "\nb\nc");
  EXPECT_EQ(without_lines("a\r\nb\r\n", {1}), "\nb\r\n");
  EXPECT_EQ(without_lines("", {1}), "");
}

constexpr const char* prepared =
    "//! buffer packed f32 [8]\n"
    "//! buffer other f32 [8]\n"
    "//! prepare pack : grid=1 block=8 args=(w, packed)\n"
    "//! kernel use replaces add_1 : grid=1 block=8 args=(packed, add_1)\n"
    "//! kernel more replaces relu_1 : grid=1 block=8 args=(add_1, other, relu_1)\n";

TEST(WithoutLines, ABufferThatNothingNamesAnyMoreGoesWithWhatPreparesIt) {
  EXPECT_EQ(without_lines(prepared, {4}),
            "\n"
            "//! buffer other f32 [8]\n"
            "\n"
            "\n"
            "//! kernel more replaces relu_1 : grid=1 block=8 args=(add_1, other, relu_1)\n");
}

TEST(WithoutLines, ABufferThatAnotherPartNamesStays) {
  const std::string text = without_lines(prepared, {5});
  EXPECT_NE(text.find("buffer packed"), std::string::npos);
  EXPECT_NE(text.find("prepare pack"), std::string::npos);
  EXPECT_EQ(text.find("buffer other"), std::string::npos);
}

}  // namespace
}  // namespace cudal1
