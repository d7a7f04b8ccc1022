#include "optimize/success.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(Success, IsAVerifiedProgramThatReplacesHalfOfTheTime) {
  EXPECT_TRUE(is_success({Status::ok, "a", "e", 0.5}));
  EXPECT_TRUE(is_success({Status::unstable, "a", "e", 1.0}));  // right, if not measured well
  EXPECT_FALSE(is_success({Status::ok, "a", "e", 0.49}));
  EXPECT_FALSE(is_success({Status::wrong_result, "a", "e", 1.0}));
  EXPECT_FALSE(is_success({Status::judge_error, "a", "e", 1.0}));
}

TEST(Success, IsNotWhatTheEmptyProgramComesDownTo) {
  EXPECT_FALSE(is_success({Status::ok, "e", "e", 1.0}));
  EXPECT_FALSE(is_success({Status::ok, "", "e", 1.0}));  // no plan at all
}

}  // namespace
}  // namespace cudal1
