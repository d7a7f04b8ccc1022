#include "cli/judging_options.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

AssessSetting setting_of(bool ahead, const std::string& device) {
  TrainingConfig config;
  config.contrastive.ahead = ahead;
  return judge_options(config, {device, "a GPU", {}}, "archive.sqlite").setting;
}

TEST(JudgingOptions, BesideAModelThatComputesProgramsAreGivenLonger) {
  EXPECT_TRUE(setting_of(true, "cuda").beside_others) << "however many processes judge";
  EXPECT_FALSE(setting_of(false, "cuda").beside_others) << "several processes are the pool's business";
  EXPECT_FALSE(setting_of(true, "vgpu").beside_others) << "there is no GPU to share";
}

TEST(JudgingOptions, TheRunsSeedSaysWhatIsPredicted) {
  TrainingConfig config;
  config.run.seed = 7;
  EXPECT_EQ(judge_options(config, {"vgpu", "a GPU", {}}, "archive.sqlite").setting.seed, 7u);
}

TEST(JudgingOptions, TheArchiveIsTheRunsUnlessTheSettingsNameAnother) {
  TrainingConfig config;
  EXPECT_EQ(judge_options(config, {"vgpu", "a GPU", {}}, "archive.sqlite").setting.archive, "archive.sqlite");
  config.judge.archive = "shared.sqlite";
  EXPECT_EQ(judge_options(config, {"vgpu", "a GPU", {}}, "archive.sqlite").setting.archive, "shared.sqlite");
}

}  // namespace
}  // namespace cudal1
