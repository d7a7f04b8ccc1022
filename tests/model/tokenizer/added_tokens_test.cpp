#include "model/tokenizer/added_tokens.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(AddedTokens, AreFoundLeftmostAndThenLongest) {
  const AddedTokens tokens({{1, "<a>", true}, {2, "<a>b", true}, {3, "a>bc", true}});
  const auto match = tokens.next("x<a>bc", 0);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->token->id, 2);
  EXPECT_EQ(match->begin, 1u);
  EXPECT_EQ(match->end, 5u);
  EXPECT_FALSE(tokens.next("x<a>bc", 3));
}

TEST(AddedTokens, MustDifferAndHaveText) {
  EXPECT_THROW(AddedTokens({{1, "<a>", true}, {1, "<b>", true}}), Error);
  EXPECT_THROW(AddedTokens({{1, "<a>", true}, {2, "<a>", true}}), Error);
  EXPECT_THROW(AddedTokens({{1, "", true}}), Error);
}

}  // namespace
}  // namespace cudal1
