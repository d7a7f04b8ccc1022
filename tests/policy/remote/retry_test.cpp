#include "policy/remote/retry.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(Backoff, DoublesUpToALimitAndJitterOnlyShortensIt) {
  const RetryRules rules{9, 0.5, 30.0, 120.0};
  EXPECT_DOUBLE_EQ(backoff_seconds(1, 0.0, rules), 0.5);
  EXPECT_DOUBLE_EQ(backoff_seconds(4, 0.0, rules), 4.0);
  EXPECT_DOUBLE_EQ(backoff_seconds(4, 0.5, rules), 3.0);
  EXPECT_DOUBLE_EQ(backoff_seconds(1000, 0.0, rules), 30.0);
}

TEST(RetryAfter, IsSecondsOrADate) {
  const auto now = std::chrono::system_clock::from_time_t(784111777);  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(retry_after_seconds("7", now), 7.0);
  EXPECT_EQ(retry_after_seconds("0.25", now), 0.25);
  EXPECT_EQ(retry_after_seconds("Sun, 06 Nov 1994 08:50:37 GMT", now), 60.0);
  EXPECT_EQ(retry_after_seconds("Sun, 06 Nov 1994 08:00:00 GMT", now), 0.0);
  EXPECT_EQ(retry_after_seconds("-5", now), 0.0);
  for (const char* nonsense : {"", "soon", "inf", "nan", "7 seconds", "1e999999"})
    EXPECT_EQ(retry_after_seconds(nonsense, now), std::nullopt) << nonsense;
}

}  // namespace
}  // namespace cudal1
