#include "policy/remote/think_filter.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

struct Filtered {
  std::string answer;
  std::size_t reasoning_bytes;
  bool operator==(const Filtered&) const = default;
};

Filtered filtered(const std::string& text, std::size_t piece_bytes) {
  ThinkFilter filter;
  std::string answer;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) answer += filter.add(text.substr(at, piece_bytes));
  answer += filter.finish();
  return {answer, filter.reasoning_bytes()};
}

TEST(ThinkFilter, ReasoningBeforeTheAnswerIsTakenOutHoweverItIsCut) {
  const std::string text = "\n<think>a < b, </thin no</think>\n\n//! graph";
  for (std::size_t bytes = 1; bytes <= text.size(); ++bytes) {
    const Filtered result = filtered(text, bytes);
    EXPECT_EQ(result.reasoning_bytes, 16u) << bytes;
    EXPECT_EQ(result.answer.substr(result.answer.find_first_not_of('\n')), "//! graph") << bytes;
  }
}

TEST(ThinkFilter, ReasoningThatNeverEndsIsNoAnswer) { EXPECT_EQ(filtered("<think>and so on", 3), (Filtered{"", 9})); }

TEST(ThinkFilter, OtherTextsPassAsTheyAre) {
  for (const std::string text : {"", " \n", "<thin", "<thinner>", "a <think>b</think>", "int x;"})
    for (std::size_t bytes = 1; bytes < 8; ++bytes) EXPECT_EQ(filtered(text, bytes), (Filtered{text, 0})) << text;
}

}  // namespace
}  // namespace cudal1
