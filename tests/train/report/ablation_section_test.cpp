#include "train/report/ablation_section.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error_of.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

json figure(double mean) {
  return {{"mean", mean}, {"low", mean - 0.125}, {"high", mean + 0.125}, {"share_above_zero", 1.0},
          {"by_seed", {mean - 0.0625, mean + 0.0625}}};
}

json figures(double reward, double copies) {
  return {{"first_success", figure(0.5)}, {"reward", figure(reward)},    {"reward_with_copies", figure(reward + 1.0)},
          {"best", figure(0.75)},         {"copy_rate", figure(copies)}, {"repeat_rate", figure(0.5)}};
}

json arm(const std::string& name, bool is_control, const json& published) {
  return {{"arm", name},       {"title", "title of " + name},   {"control", is_control},
          {"stopped", {"", is_control ? "one trick" : ""}},     {"figures", figures(0.25, 0.5)},
          {"mean_speedup", 1.5}, {"median_speedup", 1.25},      {"success_rate", 1.0},
          {"faster_rate", 0.5},  {"published", published}};
}

json ablation() {
  const json paper{{"mean_speedup", 3.12}, {"median_speedup", 1.42}, {"successes", 249}, {"faster", 226}, {"tasks", 250}};
  return {{"device", "virtual H200"}, {"predicted", true}, {"seeds", {4, 5}}, {"tasks", 7}, {"left_out", {"rows_1"}},
          {"rounds", 4}, {"samples", 4}, {"failure_reward", -1.0},
          {"arms", {arm("plain", false, nullptr), arm("bucket", false, paper), arm("shuffled", true, nullptr)}},
          {"differences", {{{"first", "bucket"}, {"second", "plain"}, {"figures", figures(0.25, 0.0)}}}}};
}

TEST(AblationSection, HasThePapersFiguresBesideOurs) {
  const std::string text = ablation_section(ablation());
  EXPECT_NE(text.find("| `bucket` | title of bucket | 1.50 | 1.25 | 100% | 50% | 3.12 | 1.42 | 100% | 90% |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| `plain` | title of plain | 1.50 | 1.25 | 100% | 50% | - | - | - | - |"), std::string::npos);
}

TEST(AblationSection, HasIntervalsEachSeedsFiguresControlsAndCopies) {
  const std::string text = ablation_section(ablation());
  for (const char* part :
       {"| `plain` | 0.250 [0.125, 0.375] | 0.188, 0.312 | 1.250 [1.125, 1.375] | 1.188, 1.312 | 50.0% [37.5%, 62.5%] |",
        "Controls, which must fall behind if scores are read:", "| `shuffled` title of shuffled | 0.250",
        "training of `shuffled` with seed 5 ended early: one trick",
        "| `bucket` - `plain` | +0.250 [+0.125, +0.375] | +0.188, +0.312 |", "7 test tasks", "2 paired seeds (4, 5)",
        "Left out, as no sample of some arm counts: 1 task."})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(AblationSection, PredictedFiguresSaySo) {
  json measured = ablation();
  measured["predicted"] = false;
  EXPECT_NE(ablation_section(ablation()).find("every speed-up of ours is predicted"), std::string::npos);
  EXPECT_NE(ablation_section(ablation()).find("ours, predicted: mean"), std::string::npos);
  EXPECT_EQ(ablation_section(measured).find("predicted"), std::string::npos);
  EXPECT_NE(ablation_picture(ablation()).find("predicted"), std::string::npos);
}

TEST(AblationPicture, ShowsBucketOverEachOtherArm) {
  const std::string svg = ablation_picture(ablation());
  EXPECT_NE(svg.find(">plain</text>"), std::string::npos);
  EXPECT_NE(svg.find("3.49x"), std::string::npos) << "exp(1.25), copies counted";
  json none = ablation();
  none["differences"] = json::array();
  EXPECT_EQ(ablation_picture(none), "");
}

TEST(AblationSection, AnotherTableIsRefusedInOneLine) {
  EXPECT_TRUE(error_of([] { ablation_section(json::object()); }).starts_with("ablation.json cannot be read: "));
  EXPECT_TRUE(error_of([] { ablation_section(json::parse("[", nullptr, false)); }).starts_with("ablation.json cannot be read: "));
}

}  // namespace
}  // namespace cudal1
