#include "model/sampling/stop_strings.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "model/sampling/repetition_guard.hpp"

namespace cudal1 {
namespace {

TEST(StopStrings, AStopStringMayBeginInOneTokenAndEndInAnother) {
  StopStrings stops({"</answer>", "STOP"});
  EXPECT_FALSE(stops.add("int x;</an"));
  EXPECT_FALSE(stops.add("sw"));
  EXPECT_EQ(stops.add("er>\n"), 6U);
  EXPECT_EQ(stops.text(), "int x;</answer>\n");
}

TEST(StopStrings, OfSeveralTheOneThatBeginsFirstCounts) {
  StopStrings stops({"b", "abc"});
  EXPECT_FALSE(stops.add("xx a"));
  EXPECT_EQ(stops.add("bcb"), 3U);
}

TEST(StopStrings, AnAlmostIsNone) {
  StopStrings stops({"aab"});
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(stops.add("a"));
  EXPECT_EQ(stops.add("b"), 8U);
  EXPECT_THROW(StopStrings({"", "x"}), Error);
  StopStrings none({});
  EXPECT_FALSE(none.add("anything"));
}

TEST(RepetitionGuard, ALoopIsNoticedWhenItIsLongEnoughAndNotBefore) {
  RepetitionGuard guard({.longest_period = 8, .repeats = 4, .tokens = 12});
  for (const std::int32_t token : {9, 8, 7}) EXPECT_FALSE(guard.add(token));
  for (int i = 0; i < 11; ++i) EXPECT_FALSE(guard.add(1 + i % 3)) << i;  // 1 2 3 1 2 3 …: eleven tokens
  EXPECT_EQ(guard.add(3), 3);                                            // twelve, four times
}

TEST(RepetitionGuard, TextThatVariesIsNoLoop) {
  RepetitionGuard guard({.longest_period = 8, .repeats = 3, .tokens = 9});
  for (std::int32_t i = 0; i < 200; ++i) EXPECT_FALSE(guard.add(i % 4 == 3 ? 100 + i : i % 4));
  RepetitionGuard off({.longest_period = 0});
  for (int i = 0; i < 500; ++i) EXPECT_FALSE(off.add(1));
}

}  // namespace
}  // namespace cudal1
