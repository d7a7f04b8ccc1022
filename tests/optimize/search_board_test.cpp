// Several searches at once: what each may take of the time, and how far they are.
#include "optimize/search_board.hpp"

#include <gtest/gtest.h>

#include "optimize/time_shares.hpp"

namespace cudal1 {
namespace {

TEST(TimeShares, AreEqualWhateverTheOrderInWhichSearchesBegin) {
  // Four searches in 60 s, two at once.
  EXPECT_DOUBLE_EQ(share_of_time(60.0, 2, 0.0, 4), 30.0);
  EXPECT_DOUBLE_EQ(share_of_time(60.0, 2, 30.0, 3), 30.0) << "the first has been promised its part";
  EXPECT_DOUBLE_EQ(share_of_time(30.0, 2, 0.0, 2), 30.0);
}

TEST(TimeShares, WhatOneLeavesIsForThoseAfterIt) {
  EXPECT_DOUBLE_EQ(share_of_time(50.0, 2, 20.0, 2), 40.0) << "one ended after 10 of its 30 s";
}

TEST(TimeShares, NobodyGetsMoreThanIsLeft) {
  EXPECT_DOUBLE_EQ(share_of_time(60.0, 8, 0.0, 2), 60.0);
  EXPECT_DOUBLE_EQ(share_of_time(-1.0, 2, 0.0, 3), 0.0);
  EXPECT_DOUBLE_EQ(share_of_time(10.0, 1, 20.0, 3), 0.0) << "all of it is promised";
}

TEST(SearchBoard, CountsAllSearches) {
  SearchBoard board(3, 10);
  board.heard(0, {.evaluations = 4, .before = 0, .best = 1.5});
  board.heard(2, {.evaluations = 6, .before = 5, .best = 0.0});
  EXPECT_EQ(board.judged(), 10);
  EXPECT_EQ(board.total(), 30);
  EXPECT_EQ(board.seconds_left(10.0), 40.0) << "five took 10 s, twenty are left";
}

TEST(SearchBoard, AnEndedSearchHasNothingLeftToJudge) {
  SearchBoard board(2, 10);
  board.heard(0, {.evaluations = 4, .before = 0, .best = 1.5});
  board.ended(0);
  EXPECT_EQ(board.total(), 14);
  board.ended(1);
  EXPECT_EQ(board.total(), 4);
  EXPECT_EQ(board.seconds_left(8.0), 0.0);
}

TEST(SearchBoard, SaysWhatTheOneThatWasHeardFromHas) {
  SearchBoard board(2, 10);
  board.heard(0, {.evaluations = 5, .before = 0, .best = 1.5});
  board.ended(1);
  EXPECT_EQ(board.text(0, "gate", 10.0, 100.0), "1 of 2 tasks; gate: best 1.50x, 10 s left");
  EXPECT_EQ(board.text(0, "gate", 10.0, 3.0), "1 of 2 tasks; gate: best 1.50x, 3 s left");
  EXPECT_EQ(SearchBoard(1, 10).text(0, "gate", 0.0, 100.0), "gate: nothing that is right yet");
}

}  // namespace
}  // namespace cudal1
