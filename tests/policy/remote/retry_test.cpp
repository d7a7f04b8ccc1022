#include "policy/remote/retry.hpp"

#include <gtest/gtest.h>

#include "policy/remote/waiting.hpp"

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

TEST(SleepUntil, SleepsWhatIsLeftAndNotForWhatIsPast) {
  using std::chrono::milliseconds;
  using TimePoint = std::chrono::steady_clock::time_point;
  milliseconds slept{0};
  int pieces = 0;
  const TimePoint begin{std::chrono::hours(1)};
  const Waiting waiting{[&] { return begin + slept; }, std::chrono::system_clock::now,
                        [&](milliseconds duration) {
                          slept += duration;
                          ++pieces;
                        }};
  EXPECT_TRUE(sleep_until(begin, waiting, [] { return false; }));
  EXPECT_TRUE(sleep_until(TimePoint::min(), waiting, [] { return false; }));
  EXPECT_EQ(pieces, 0);
  EXPECT_TRUE(sleep_until(begin + milliseconds(250), waiting, [] { return false; }));
  EXPECT_EQ(slept, milliseconds(250));
  EXPECT_FALSE(sleep_until(begin + milliseconds(9999), waiting, [&] { return pieces >= 5; }));
  EXPECT_LE(slept, milliseconds(500));
}

}  // namespace
}  // namespace cudal1
