#include "train/ablation/ablation_arms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "error_of.hpp"
#include "train/ablation/ablation_course.hpp"

namespace cudal1 {
namespace {

std::vector<std::string> names_of(const std::vector<AblationArm>& arms) {
  std::vector<std::string> names;
  for (const AblationArm& arm : arms) names.emplace_back(arm.name);
  return names;
}

const AblationArm& arm(std::string_view name) {
  return *std::ranges::find(ablation_arms(), name, &AblationArm::name);
}

TEST(AblationArms, AreChosenByNameInTheTablesOrder) {
  EXPECT_EQ(chosen_arms({}).size(), ablation_arms().size());
  EXPECT_EQ(names_of(chosen_arms({"bucket", "base", "bucket"})), (std::vector<std::string>{"base", "bucket"}));
}

TEST(AblationArms, ASlipIsNamedWithTheNearestArm) {
  EXPECT_EQ(error_of([] { chosen_arms({"base", "buckett"}); }),
            "--arms: there is no arm 'buckett'; did you mean 'bucket'?");
  EXPECT_TRUE(error_of([] { chosen_arms({"zzzzzzzz"}); }).starts_with("--arms: there is no arm 'zzzzzzzz'; there are base, "));
}

TEST(AblationArms, EveryRowOfTheTableHoldsTogether) {
  std::set<std::string_view> names;
  for (const AblationArm& each : ablation_arms()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    const bool has_run = std::ranges::find(contrastive_runs(), each.run, &ContrastiveRun::name) != contrastive_runs().end();
    EXPECT_EQ(has_run, !each.run.empty()) << each.name << ": its run is one of the table";
    EXPECT_EQ(has_run, each.stage == "contrastive") << each.name;
    EXPECT_FALSE(each.is_control && each.published) << each.name << ": the paper has no controls";
  }
  for (const AblationDifference& each : ablation_differences()) {
    EXPECT_TRUE(names.contains(each.first)) << each.first;
    EXPECT_TRUE(names.contains(each.second)) << each.second;
  }
}

TEST(AblationArms, ATrialDiffersInWhatItsPromptsShowAndInNothingElse) {
  TrainingConfig config;
  config.contrastive.reward = {.shape = RewardShape::paper, .failure_reward = -0.5};
  config.contrastive.exemplars.share_without = 0.7;
  const TrialOptions plain = ablation_trial(config, arm("plain"), 4), bucket = ablation_trial(config, arm("bucket"), 4);
  EXPECT_EQ(plain.rounds * plain.samples, 16);
  EXPECT_EQ(plain.seed, bucket.seed) << "arms are paired";
  EXPECT_NE(plain.seed, ablation_trial(config, arm("plain"), 5).seed);
  EXPECT_EQ(plain.exemplars.selection.choice, ExemplarChoice::none);
  EXPECT_EQ(bucket.exemplars.selection.choice, ExemplarChoice::bucket);
  EXPECT_EQ(bucket.exemplars.share_without, 0.0);
  EXPECT_EQ(bucket.reward.shape, RewardShape::log_speedup) << "what is compared is the logarithm, whatever was learned";
  EXPECT_EQ(bucket.reward.failure_reward, -0.5);
  EXPECT_EQ(ablation_trial(config, arm("bucket_shuffled"), 4).exemplars.scores, ExemplarScores::shuffled);
  EXPECT_EQ(ablation_trial(config, arm("unscored"), 4).exemplars.scores, ExemplarScores::hidden);
  EXPECT_TRUE(ablation_trial(config, arm("copy_best"), 4).copies_best);
}

TEST(AblationArms, AConfigurationInWhichArmsWouldNotDifferIsRefused) {
  const AblationPlan all{chosen_arms({}), 3};
  EXPECT_EQ(error_of([&] { check_ablation({}, all); }), "");
  TrainingConfig config;
  config.contrastive.exemplars.selection.count = 1;
  EXPECT_EQ(error_of([&] { check_ablation(config, all); }),
            "--ablation: contrastive.exemplar_count is 1, and one score cannot be shuffled; leave the arm 'shuffled' out");
  EXPECT_EQ(error_of([&] { check_ablation(config, {chosen_arms({"plain", "bucket"}), 3}); }), "");
  config.contrastive.exemplars.selection.count = 0;
  EXPECT_NE(error_of([&] { check_ablation(config, {chosen_arms({"bucket"}), 3}); }), "");
  config = {};
  config.tasks.test = 0;
  EXPECT_NE(error_of([&] { check_ablation(config, all); }).find("tasks.test is 0"), std::string::npos);
  config = {};
  config.run.stages = {"supervised", "contrastive"};
  EXPECT_NE(error_of([&] { check_ablation(config, all); }).find("run.stages"), std::string::npos);
}

}  // namespace
}  // namespace cudal1
