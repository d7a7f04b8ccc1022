// What several measurements of the same program say together.
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/measurement.hpp"

namespace cudal1 {
namespace {

Measurement accused(Status status) { return {Failure{status, "as this test says"}, {}, {}, {}, {}}; }

Measurement measured(double speedup, bool stable) {
  Measurement made;
  made.summary.speedup = speedup;
  made.summary.stable = stable;
  return made;
}

//! What is said of these measurements, and how many of them were asked for.
struct Told {
  std::optional<Failure> failure;
  Evaluation evaluation;
  std::size_t asked = 0;
};

Told tell(const std::vector<Measurement>& measurements, TimingProtocol protocol = TimingProtocol::standard) {
  Told told;
  told.failure = measure_until_stable([&] { return measurements.at(told.asked++); }, protocol, told.evaluation);
  return told;
}

TEST(RepeatedMeasurement, OneThatIsStableIsEnough) {
  const Told told = tell({measured(2.0, true)});
  EXPECT_FALSE(told.failure);
  EXPECT_EQ(told.evaluation.timing->speedup, 2.0);
}

TEST(RepeatedMeasurement, ClocksMustDisagreeMostOfTheTimeBeforeItIsSaid) {
  const Told disturbed = tell({accused(Status::clock_mismatch), accused(Status::unstable), measured(1.5, true)});
  EXPECT_FALSE(disturbed.failure);
  EXPECT_EQ(disturbed.evaluation.timing->speedup, 1.5);
  const Told cheat = tell(std::vector<Measurement>(3, accused(Status::clock_mismatch)));
  ASSERT_TRUE(cheat.failure);
  EXPECT_EQ(cheat.failure->status, Status::clock_mismatch);
  EXPECT_FALSE(cheat.evaluation.timing);
}

TEST(RepeatedMeasurement, ACheatNeedNotBeSeenOnceMoreWhereTheMachineWasTooBusyToTell) {
  std::vector<Measurement> measurements{accused(Status::unstable), accused(Status::clock_mismatch),
                                        accused(Status::clock_mismatch)};
  for (int turn = 0; turn < 3; ++turn, std::ranges::rotate(measurements, measurements.begin() + 1)) {
    const Told cheat = tell(measurements);
    ASSERT_TRUE(cheat.failure);
    EXPECT_EQ(cheat.failure->status, Status::clock_mismatch) << turn;
  }
}

TEST(RepeatedMeasurement, AnAccusationBesideMeasurementsThatCouldNotTellIsNone) {
  for (const auto& first : {std::vector{accused(Status::unstable), accused(Status::unstable)},
                            std::vector{measured(1.5, false), accused(Status::clock_mismatch)}}) {
    std::vector<Measurement> measurements = first;
    measurements.push_back(accused(Status::clock_mismatch));
    const Told told = tell(measurements);
    ASSERT_TRUE(told.failure);
    EXPECT_EQ(told.failure->status, Status::unstable);
    EXPECT_FALSE(told.evaluation.timing);
  }
}

TEST(RepeatedMeasurement, WhatNoDisturbanceExplainsIsSaidAtOnce) {
  const Told told = tell({accused(Status::wrong_when_timed)});
  ASSERT_TRUE(told.failure);
  EXPECT_EQ(told.failure->status, Status::wrong_when_timed);
}

TEST(RepeatedMeasurement, OneThatNeverSettlesIsUnstable) {
  const Told told = tell(std::vector<Measurement>(3, measured(2.0, false)));
  ASSERT_TRUE(told.failure);
  EXPECT_EQ(told.failure->status, Status::unstable);
  EXPECT_EQ(told.evaluation.timing->speedup, 2.0);
}

TEST(RepeatedMeasurement, ThePublishedProtocolMeasuresOnce) {
  const Told told = tell({measured(2.0, false)}, TimingProtocol::paper);
  ASSERT_TRUE(told.failure);
  EXPECT_EQ(told.failure->status, Status::unstable);
  EXPECT_EQ(tell({accused(Status::clock_mismatch)}, TimingProtocol::paper).asked, 1u);
}

}  // namespace
}  // namespace cudal1
