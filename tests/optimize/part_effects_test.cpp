// What parts do, told from made-up times.
#include "optimize/part_effects.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cudal1 {
namespace {

Evaluation predicted(double speedup) {
  Evaluation evaluation;
  evaluation.status = Status::ok;
  evaluation.predicted = true;
  evaluation.timing = TimingSummary{};
  evaluation.timing->speedup = speedup;
  return evaluation;
}

Evaluation measured(double speedup, double half_width) {
  Evaluation evaluation = predicted(speedup);
  evaluation.predicted = false;
  evaluation.timing->low = speedup - half_width;
  evaluation.timing->high = speedup + half_width;
  return evaluation;
}

Evaluation refused() {
  Evaluation evaluation;
  evaluation.status = Status::plan_error;
  evaluation.failure.message = "there is no node 'folded_1'";
  return evaluation;
}

constexpr const char* program = "//! fuse one\n//! fuse two\n";
constexpr const char* only_one = "//! fuse one\n\n";
constexpr const char* only_two = "\n//! fuse two\n";

std::vector<PartEffect> effects_of(const Evaluation& one, const Evaluation& two) {
  const std::map<std::string, Evaluation> judged = {{only_one, one}, {only_two, two}};
  return effects_of_parts(program, true, [&](const std::string& text) { return judged.at(text); });
}

TEST(PartEffects, AShareIsTheGainOverTheProgramWithoutThePart) {
  const auto effects = effects_of(predicted(1.5), predicted(2.0));
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0].part, "fuse one");
  EXPECT_DOUBLE_EQ(effects[0].share(predicted(3.0))->value, 1.5);
  EXPECT_DOUBLE_EQ(effects[1].share(predicted(3.0))->value, 2.0);
  EXPECT_DOUBLE_EQ(effects[0].gain_alone()->value, 1.5);
}

TEST(PartEffects, HelpsHurtsOrDoesNothing) {
  const auto effects = effects_of(predicted(1.5), predicted(1.0));
  EXPECT_EQ(effect_of(effects[0], predicted(1.505)), Effect::helps);
  EXPECT_EQ(effect_of(effects[1], predicted(1.505)), Effect::nothing);
  EXPECT_EQ(effect_of(effects[1], predicted(1.4)), Effect::hurts);
}

TEST(PartEffects, NoiseIsNoEffect) {
  // 3% apart, but the intervals of the two measurements reach over each other
  const PartEffect noisy{"fuse one", measured(1.00, 0.04), {}};
  EXPECT_EQ(effect_of(noisy, measured(1.03, 0.04)), Effect::nothing);
  EXPECT_EQ(effect_of(noisy, measured(0.97, 0.04)), Effect::nothing);
  const PartEffect sharp{"fuse one", measured(1.00, 0.002), {}};
  EXPECT_EQ(effect_of(sharp, measured(1.03, 0.002)), Effect::helps);
  EXPECT_EQ(effect_of(sharp, measured(0.97, 0.002)), Effect::hurts);
  // far beyond noise, and still too little to matter
  EXPECT_EQ(effect_of(sharp, measured(1.005, 0.001)), Effect::nothing);
}

TEST(PartEffects, AnIntervalTakesTheWorstOfBothSides) {
  const PartEffect effect{"fuse one", measured(2.0, 0.1), {}};
  const auto share = effect.share(measured(4.0, 0.2));
  EXPECT_DOUBLE_EQ(share->value, 2.0);
  EXPECT_DOUBLE_EQ(share->low, 3.8 / 2.1);
  EXPECT_DOUBLE_EQ(share->high, 4.2 / 1.9);
}

TEST(PartEffects, WhatTheOthersNeedHasNoShare) {
  const auto effects = effects_of(predicted(1.5), refused());
  EXPECT_FALSE(effects[0].share(predicted(3.0)));
  EXPECT_EQ(effect_of(effects[0], predicted(3.0)), Effect::needed);
  EXPECT_EQ(interplay_of(effects[0], predicted(3.0)), Interplay::unknown);
  EXPECT_FALSE(effects[1].gain_alone());
  EXPECT_EQ(effects[1].alone->failure.message, "there is no node 'folded_1'");
  EXPECT_FALSE(expected_together(effects));
}

TEST(PartEffects, GainsMultiplyOrAreWorthMoreOrLessBesideTheOthers) {
  const auto effects = effects_of(predicted(1.5), predicted(2.0));
  EXPECT_EQ(interplay_of(effects[0], predicted(3.0)), Interplay::multiplies);
  EXPECT_EQ(interplay_of(effects[0], predicted(6.0)), Interplay::worth_more);
  EXPECT_EQ(interplay_of(effects[0], predicted(2.2)), Interplay::worth_less);
  EXPECT_EQ(interplay_of(effects[1], predicted(3.0)), Interplay::multiplies);
  const auto noisy = effects_of(measured(1.5, 0.05), measured(2.0, 0.05));
  EXPECT_EQ(interplay_of(noisy[0], measured(3.1, 0.05)), Interplay::multiplies);
}

TEST(PartEffects, GainsOfDifferentStepsAddTheTimesTheySave) {
  // Of 4 ms, one part saves 1 and the other 2: alone 4/3 and 2, together 4.
  const auto expected = expected_together(effects_of(predicted(4.0 / 3.0), predicted(2.0)));
  ASSERT_TRUE(expected);
  EXPECT_DOUBLE_EQ(expected->product, 8.0 / 3.0);
  ASSERT_TRUE(expected->added);
  EXPECT_NEAR(*expected->added, 4.0, 1e-12);
}

TEST(PartEffects, PartsThatSaveTheSameTimeCannotAddItUp) {
  EXPECT_FALSE(expected_together(effects_of(predicted(2.0), predicted(2.5)))->added);
}

TEST(PartEffects, NoProgramIsJudgedTwice) {
  std::map<std::string, int> judged;
  const auto judge = [&](const std::string& text) { return ++judged[text], predicted(1.0); };
  const Evaluation whole = predicted(2.0);
  effects_of_parts(program, true, judge, &whole);
  EXPECT_EQ(judged, (std::map<std::string, int>{{only_one, 1}, {only_two, 1}}));
  EXPECT_EQ(programs_to_judge(program, true), 2u);
  judged.clear();
  // of a program of one part, that part alone is the program
  const auto effects = effects_of_parts("//! graph\n", true, judge, &whole);
  EXPECT_EQ(judged, (std::map<std::string, int>{{"\n", 1}}));
  EXPECT_DOUBLE_EQ(effects.at(0).gain_alone()->value, 2.0);
}

TEST(PartEffects, PartsAreJudgedAloneOnlyIfAsked) {
  const std::string three = "//! fuse a\n//! fuse b\n//! fuse c\n";
  const auto judge = [](const std::string&) { return predicted(1.0); };
  EXPECT_FALSE(effects_of_parts(three, false, judge).at(0).alone);
  EXPECT_EQ(programs_to_judge(three, false), 3u);
  EXPECT_EQ(programs_to_judge(three, true), 6u);
}

}  // namespace
}  // namespace cudal1
