// Numbers of an ablation, worked by hand.
#include "train/ablation/ablation_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "error_of.hpp"
#include "toy_learner.hpp"
#include "train/ablation/ablation_report.hpp"

namespace cudal1 {
namespace {

using Kind = SampleKind;

class AblationScoresTest : public ::testing::Test {
 protected:
  struct Sample {
    Kind kind = Kind::failure;
    double speedup = 0.0;
    std::string plan = {};
  };
  using Rounds = std::vector<std::vector<Sample>>;

  TrialTask trial(std::size_t task, const Rounds& rounds) const {
    TrialTask made{.task = &tasks_[task], .rewards = {}, .plans = {}, .speedups = {}};
    for (const std::vector<Sample>& round : rounds) {
      made.rewards.emplace_back();
      made.plans.emplace_back();
      made.speedups.emplace_back();
      for (const Sample& sample : round) {
        made.rewards.back().push_back(reward_of(sample));
        made.plans.back().push_back(sample.plan);
        made.speedups.back().push_back(sample.speedup);
        if (sample.kind == Kind::success) made.best_speedup = std::max(made.best_speedup, sample.speedup);
      }
    }
    return made;
  }
  //! One success a round, whose logarithms are these.
  TrialTask successes(std::size_t task, const std::vector<double>& logs) const {
    Rounds rounds;
    for (const double log : logs) rounds.push_back({{Kind::success, std::exp(log), "plan"}});
    return trial(task, rounds);
  }
  static ArmTrials arm(const std::string& name, std::vector<std::vector<TrialTask>> trials) {
    const std::vector<std::string> stopped(trials.size());
    return {chosen_arms({name}).front(), std::move(trials), stopped};
  }
  static double value(const TrialTask& task, std::string_view measure) {
    const auto found = std::ranges::find(ablation_measures(), measure, &AblationMeasure::name);
    return found->of(task, -1.0).value_or(std::nan(""));
  }
  static const AblationFigure& figure(const std::vector<AblationFigure>& figures, std::string_view measure) {
    const auto found = std::ranges::find(ablation_measures(), measure, &AblationMeasure::name);
    return figures[static_cast<std::size_t>(found - ablation_measures().begin())];
  }
  std::vector<TrainingTask> tasks_ = testing::toy_tasks(4);

 private:
  static ShapedReward reward_of(const Sample& sample) {
    double reward = sample.kind == Kind::success ? std::log(sample.speedup) : -1.0;
    if (sample.kind == Kind::copy) reward = std::min(0.0, std::log(sample.speedup));
    if (sample.kind == Kind::uncounted) reward = 0.0;
    return {sample.kind, reward, reward, reward};
  }
};

TEST_F(AblationScoresTest, MeasuresOfOneTask) {
  const double twice = std::log(2.0), four = std::log(4.0);
  const TrialTask task = trial(
      0, {{{Kind::success, 2.0, "a"}, {Kind::failure}, {Kind::uncounted}, {Kind::idle}},
          {{Kind::copy, 2.0, "a"}, {Kind::success, 4.0, "b"}, {Kind::failure, 0.0, "c"}, {Kind::uncounted}},
          {{Kind::success, 2.0, "a"}, {Kind::failure, 0.0, "c"}, {Kind::copy, 4.0, "b"}, {Kind::failure}}});
  EXPECT_NEAR(value(task, "first_success"), 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(value(task, "reward"), (0.0 + four - 1.0 + twice - 1.0 + 0.0 - 1.0) / 7.0, 1e-12);
  EXPECT_NEAR(value(task, "reward_with_copies"), (twice + four - 1.0 + twice - 1.0 + four - 1.0) / 7.0, 1e-12);
  EXPECT_NEAR(value(task, "best"), four, 1e-12);
  EXPECT_NEAR(value(task, "copy_rate"), 2.0 / 7.0, 1e-12);
  EXPECT_NEAR(value(task, "repeat_rate"), 3.0 / 7.0, 1e-12) << "'a' without having been shown; 'c' was never right";
}

TEST_F(AblationScoresTest, WhoFindsNothingFasterKeepsTheReference) {
  EXPECT_EQ(value(trial(0, {{{Kind::failure}}, {{Kind::failure}}}), "best"), 0.0);
  EXPECT_EQ(value(successes(0, {-0.5, -0.4}), "best"), 0.0);
  EXPECT_NEAR(value(trial(0, {{{Kind::success, 0.1, "a"}}, {{Kind::copy, 0.1, "a"}}}), "reward_with_copies"), -1.0,
              1e-12)
      << "a slow copy is worth no less than a failure";
}

TEST_F(AblationScoresTest, DifferencesArePairedBySeedAndTask) {
  // Tasks and seeds differ by far more than arms do; pair by pair bucket is ahead by 0.1 and 0.3.
  const ArmTrials plain = arm("plain", {{successes(0, {0, 1.0}), successes(1, {0, 5.0})},
                                        {successes(0, {0, 3.0}), successes(1, {0, 9.0})}});
  const ArmTrials bucket = arm("bucket", {{successes(0, {0, 1.1}), successes(1, {0, 5.3})},
                                          {successes(0, {0, 3.1}), successes(1, {0, 9.3})}});
  const AblationScores scores = ablation_scores({plain, bucket}, {7, 8}, -1.0);
  ASSERT_EQ(scores.differences.size(), 1u) << "of those whose arms are both there";
  EXPECT_EQ(scores.differences[0].arms.first, "bucket");
  const AblationFigure& reward = figure(scores.differences[0].figures, "reward");
  EXPECT_NEAR(reward.over_all.mean, 0.2, 1e-12);
  EXPECT_NEAR(reward.over_all.low, 0.1, 1e-12) << "both draws may be the first task";
  EXPECT_NEAR(reward.over_all.high, 0.3, 1e-12);
  EXPECT_TRUE(reward.over_all.is_above_zero());
  ASSERT_EQ(reward.by_seed.size(), 2u);
  EXPECT_NEAR(reward.by_seed[1], 0.2, 1e-12);
  EXPECT_NEAR(figure(scores.arms[0].figures, "reward").over_all.mean, 4.5, 1e-12);
  EXPECT_NEAR(figure(scores.arms[0].figures, "reward").by_seed[0], 3.0, 1e-12);
}

TEST_F(AblationScoresTest, ATaskThatDoesNotCountInOneArmCountsInNone) {
  const TrialTask lost = trial(1, {{{Kind::success, 2.0, "a"}}, {{Kind::uncounted}}});
  const ArmTrials plain = arm("plain", {{successes(0, {0, 1.0}), lost}});
  const ArmTrials bucket = arm("bucket", {{successes(0, {0, 2.0}), successes(1, {0, 50.0})}});
  const AblationScores scores = ablation_scores({plain, bucket}, {1}, -1.0);
  EXPECT_EQ(scores.tasks, 1u);
  EXPECT_EQ(scores.left_out, std::vector<std::string>{"toy_1"});
  EXPECT_NEAR(figure(scores.differences[0].figures, "reward").over_all.mean, 1.0, 1e-12);
  EXPECT_EQ(error_of([&] { ablation_scores({arm("plain", {{lost}})}, {1}, -1.0); }),
            "there is no task that counts in all arms (1 do not)");
}

TEST_F(AblationScoresTest, BestSpeedupsAsThePaperCounts) {
  const ArmTrials bucket = arm(
      "bucket", {{trial(0, {{{Kind::success, 4.0, "a"}}, {{Kind::failure}}}), trial(1, {{{Kind::failure}}, {{Kind::failure}}}),
                  trial(2, {{{Kind::success, 1.005, "a"}}, {{Kind::failure}}}),
                  trial(3, {{{Kind::success, 1.5, "a"}}, {{Kind::success, 2.0, "b"}}})}});
  const BestSpeedups best = ablation_scores({bucket}, {1}, -1.0).arms[0].best;
  EXPECT_NEAR(best.mean, (4.0 + 1.005 + 2.0) / 3.0, 1e-12);
  EXPECT_NEAR(best.median, 2.0, 1e-12);
  EXPECT_NEAR(best.success_rate, 0.75, 1e-12);
  EXPECT_NEAR(best.faster_rate, 0.5, 1e-12);
}

TEST_F(AblationScoresTest, ReportsHaveOursBesideThePapers) {
  ArmTrials bucket = arm("bucket", {{trial(0, {{{Kind::success, 4.0, "a"}}, {{Kind::copy, 4.0, "a"}}})}});
  bucket.stopped[0] = "one trick";
  const ArmTrials plain = arm("plain", {{trial(0, {{{Kind::success, 2.0, "a"}}, {{Kind::success, 2.0, "a"}}})}});
  const AblationScores scores = ablation_scores({plain, bucket}, {5}, -1.0);
  const AblationProtocol protocol{"a GPU", true, {}};
  const std::string text = ablation_markdown(scores, protocol);
  for (const char* part : {"| `bucket` | 4.00 | 4.00 | 100% | 100% | 3.12 | 1.42 | 100% | 90% |",
                           "| `plain` | 2.00 | 2.00 | 100% | 100% | 2.41 | 1.33 | 99% | 83% |", "1 test tasks, 1 seed (5)",
                           "judged on a GPU, whose times are predictions", "training of `bucket` with seed 5 ended early: one trick",
                           "| `bucket` - `plain` | -0.693 [-0.693, -0.693] | -0.693 | +0.693 [+0.693, +0.693] | +0.693 |"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::string csv = ablation_csv(scores);
  EXPECT_TRUE(csv.starts_with("kind,arm,against,measure,value,low,high\narm,plain,,first_success,1,1,1\n")) << csv;
  EXPECT_NE(csv.find("\ndifference,bucket,plain,copy_rate,1,1,1\n"), std::string::npos) << csv;
  const nlohmann::json json = ablation_json(scores, protocol);
  EXPECT_EQ(json["arms"][1]["published"]["mean_speedup"], 3.12);
  EXPECT_EQ(json["arms"][1]["figures"]["copy_rate"]["mean"], 1.0);
  EXPECT_EQ(json["differences"][0]["first"], "bucket");
}

}  // namespace
}  // namespace cudal1
