// Rewards that may not have been earned are listed with their programs.
#include "train/run/hack_watch.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "error_of.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

Assessment fast(double speedup, bool is_measured_again = false) {
  Assessment assessment;
  assessment.outcome = {.status = Status::ok, .plan_hash = "p", .speedup = speedup};
  assessment.is_measured_again = is_measured_again;
  return assessment;
}

Assessment failed(Status status) {
  Assessment assessment;
  assessment.outcome.status = status;
  assessment.message = "line one";
  return assessment;
}

ShapedReward success(double reward) { return {SampleKind::success, reward, reward, reward}; }
const ShapedReward failure{SampleKind::failure, -1.0, -1.0, -1.0};

class HackWatchTest : public testing::Test {
 protected:
  std::vector<json> lines() const {
    std::vector<json> all;
    for_each_line(read_file(file_), [&](std::string_view line, int) { all.push_back(json::parse(line)); });
    return all;
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "suspicions.jsonl";
  CheckpointName step_{"contrastive", 5};
};

TEST_F(HackWatchTest, AJumpIsFarAboveEverythingBeforeForThatTask) {
  HackWatch watch(file_, nullptr);
  watch.observe(step_, "a", "first", fast(2.9), success(1.0));
  watch.observe(step_, "a", "twice as fast", fast(5.8), success(1.7));
  watch.observe(step_, "b", "other task", fast(2.0), success(0.7));
  EXPECT_EQ(watch.counts().jumps, 0);
  watch.observe(step_, "a", "miracle", fast(11.7, true), success(2.4));
  watch.observe(step_, "c", "great from the start", fast(3.1), success(1.1));
  watch.observe(step_, "a", "miracle", fast(11.7), success(2.4));
  ASSERT_EQ(watch.counts().jumps, 2);
  EXPECT_EQ(lines().at(0), (json{{"kind", "jump"},
                                 {"stage", "contrastive"},
                                 {"step", 5},
                                 {"task", "a"},
                                 {"speedup", 11.7},
                                 {"best_before", 5.8},
                                 {"measured_again", true},
                                 {"plan", "p"},
                                 {"program", "miracle"}}));
  EXPECT_EQ(lines().at(1).at("program"), "great from the start");
}

TEST_F(HackWatchTest, WhatEarnsNothingIsNoJumpAndNoMeasure) {
  HackWatch watch(file_, nullptr);
  watch.observe(step_, "a", "idle", fast(50.0), {SampleKind::idle, -1.0, -1.0, -1.0});
  watch.observe(step_, "a", "modest", fast(1.1), success(0.1));
  EXPECT_EQ(watch.counts().jumps, 0);
}

TEST_F(HackWatchTest, TheShareOfRewardThatWasMeasuredTwiceIsOfWhatWasEarned) {
  HackWatch watch(file_, nullptr);
  EXPECT_EQ(watch.counts().rechecked_share(), 0.0);
  watch.observe(step_, "a", "x", fast(1.5), success(0.75));
  watch.observe(step_, "a", "x", fast(1.4, true), success(0.25));
  watch.observe(step_, "a", "x", fast(0.5, true), success(-0.7));
  EXPECT_DOUBLE_EQ(watch.counts().rechecked_share(), 0.25);
  EXPECT_EQ(watch.summary(), "25% of the reward was measured twice, 0 jumps, caught: nothing");
}

TEST_F(HackWatchTest, CheatsAreCountedByKindAndMistakesAreNot) {
  HackWatch watch(file_, nullptr, {.most_listed = 2});
  for (int i = 0; i < 3; ++i) watch.observe(step_, "a", "static int\xff", failed(Status::forbidden), failure);
  for (const Status status : {Status::modified_input, Status::wrong_when_timed, Status::clock_mismatch,
                              Status::faster_than_possible, Status::nondeterministic, Status::out_of_bounds,
                              Status::wrong_result, Status::compile_error, Status::judge_error})
    watch.observe(step_, "a", "text", failed(status), failure);
  EXPECT_EQ(watch.summary(),
            "0% of the reward was measured twice, 0 jumps, caught: 1 clock_mismatch, 1 faster_than_possible, "
            "3 forbidden, 1 modified_input, 1 wrong_when_timed");
  EXPECT_EQ(lines().size(), 6u) << "of the third forbidden one only the number is kept";
  EXPECT_EQ(lines().at(0), (json{{"kind", "forbidden"},
                                 {"stage", "contrastive"},
                                 {"step", 5},
                                 {"task", "a"},
                                 {"message", "line one"},
                                 {"program", "static int\xEF\xBF\xBD"}}));
}

TEST_F(HackWatchTest, ARunThatIsResumedListsNothingTwice) {
  json state;
  {
    HackWatch watch(file_, nullptr);
    watch.observe(step_, "a", "before", fast(4.0), success(1.4));
    state = json::parse(watch.state().dump());
    watch.observe(step_, "a", "lost", fast(9.0), success(2.2));
    watch.observe(step_, "a", "lost", failed(Status::forbidden), failure);
    EXPECT_EQ(lines().size(), 3u);
  }
  HackWatch watch(file_, state);
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_EQ(watch.summary(), "0% of the reward was measured twice, 1 jump, caught: nothing");
  watch.observe(step_, "a", "no jump", fast(7.9), success(2.0));
  watch.observe(step_, "b", "jump", fast(9.0), success(2.2));
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_EQ(watch.state().at("lines"), 2);
  EXPECT_EQ(HackWatch(file_, nullptr).counts().jumps, 0);
  EXPECT_TRUE(lines().empty()) << "from the beginning";
  EXPECT_NE(error_of([&] { HackWatch(file_, {{"lines", 0}}); }), "");
  EXPECT_NE(error_of([&] { HackWatch(file_, "text"); }), "");
}

}  // namespace
}  // namespace cudal1
