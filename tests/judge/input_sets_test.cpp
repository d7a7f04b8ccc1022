#include "judge/input_sets.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

const std::vector<Distribution> two{Distribution::native, Distribution::native};

std::shared_ptr<const InputSet> a_set() { return std::make_shared<InputSet>(); }

TEST(InputSetStore, KeepsNothingUnlessToldTo) {
  InputSetStore store;
  EXPECT_FALSE(store.serves_again());
  store.begin_with(two);
  store.offer(0, a_set(), 0);
  EXPECT_EQ(store.find(0), nullptr);
  EXPECT_FALSE(store.serves_again());
}

TEST(InputSetStore, ServesSoManyVerificationsAndIsEmptyThen) {
  InputSetStore store(3, 100);
  ASSERT_FALSE(store.serves_again());
  store.begin_with(two);
  const auto first = a_set();
  store.offer(0, first, 60);
  EXPECT_TRUE(store.serves_again());
  EXPECT_EQ(store.find(0), first);
  EXPECT_EQ(store.distributions(), two);
  EXPECT_TRUE(store.serves_again());
  EXPECT_FALSE(store.serves_again()) << "that was the third";
  EXPECT_EQ(store.find(0), nullptr);
}

TEST(InputSetStore, KeepsAsManyOfTheFirstAsThereIsRoomFor) {
  InputSetStore store(10, 100);
  ASSERT_FALSE(store.serves_again());
  store.begin_with(two);
  store.offer(0, a_set(), 60);
  store.offer(1, a_set(), 60);
  EXPECT_NE(store.find(0), nullptr);
  EXPECT_EQ(store.find(1), nullptr);
  store.offer(2, a_set(), 1);
  EXPECT_EQ(store.find(2), nullptr) << "one before it is missing";
}

TEST(InputSetStore, LacksRoomUntilNewSetsBegin) {
  InputSetStore store(2, 100);
  for (int round = 0; round < 2; ++round) {
    ASSERT_FALSE(store.serves_again());
    store.begin_with(two);
    store.offer(0, a_set(), 60);
    EXPECT_FALSE(store.lacks_room());
    store.offer(1, a_set(), 60);
    EXPECT_TRUE(store.lacks_room());
    EXPECT_EQ(store.kept(), 1u);
    EXPECT_TRUE(store.serves_again());
  }
}

TEST(InputSetStore, ThatIsToKeepNothingLacksNoRoom) {
  InputSetStore store;
  store.begin_with(two);
  store.offer(0, a_set(), 60);
  EXPECT_FALSE(store.lacks_room());
}

TEST(InputSetStore, WhatIsDrawnAnewHasAllTheRoomAgain) {
  InputSetStore store(2, 100);
  for (int round = 0; round < 3; ++round) {
    ASSERT_FALSE(store.serves_again());
    store.begin_with(two);
    store.offer(0, a_set(), 90);
    EXPECT_NE(store.find(0), nullptr);
    EXPECT_TRUE(store.serves_again());
  }
}

}  // namespace
}  // namespace cudal1
