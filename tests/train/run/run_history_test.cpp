// What a run writes of when and where it ran can be read again, also after a kill.
#include "train/run/run_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.hpp"

namespace cudal1 {
namespace {

class RunHistoryTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "history.jsonl";
  RunHistory history_{file_};
};

TEST_F(RunHistoryTest, EachStartHasItsEndUnlessItWasKilled) {
  history_.begin({.begun_s = 10.0, .command = "cudal1 train a.toml", .judge = "a GPU", .host = "a host"});
  history_.begin({.begun_s = 20.0, .command = "cudal1 train a.toml", .judge = "virtual", .is_predicted = true});
  history_.end(30.0, true);
  const std::vector<RunStart> starts = history_.starts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_FALSE(starts[0].ended_s);
  EXPECT_EQ(starts[0].command, "cudal1 train a.toml");
  EXPECT_EQ(starts[0].judge, "a GPU");
  EXPECT_EQ(starts[0].host, "a host");
  EXPECT_FALSE(starts[0].is_predicted);
  EXPECT_EQ(starts[1].ended_s, 30.0);
  EXPECT_TRUE(starts[1].is_through);
  EXPECT_TRUE(starts[1].is_predicted);
}

TEST_F(RunHistoryTest, OfAStageTheLastValidationCounts) {
  history_.add({"supervised", 5, 4, 0.25, 1.0, -0.5, -0.25, 0.1, 0.0});
  history_.add({"contrastive", 7, 4, 0.5, 2.0, 0.5, 0.75, 0.3, 0.125});
  history_.add({"supervised", 5, 4, 0.75, 1.0, -0.5, -0.25, 0.1, 0.0});
  const std::vector<StageValidation> found = history_.validations();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].stage, "supervised");
  EXPECT_EQ(found[0].first_success, 0.75);
  EXPECT_EQ(found[1].copy_rate, 0.125);
  EXPECT_EQ(found[1].best_log, 0.3);
}

TEST_F(RunHistoryTest, AValidationIsThatOfItsStep) {
  EXPECT_FALSE(history_.validation_at("contrastive", 7));
  history_.add({"contrastive", 7, 4, 0.5, 2.0, 0.5, 0.75, 0.3, 0.125});
  EXPECT_FALSE(history_.validation_at("contrastive", 8));
  EXPECT_FALSE(history_.validation_at("supervised", 7));
  ASSERT_TRUE(history_.validation_at("contrastive", 7));
  EXPECT_EQ(history_.validation_at("contrastive", 7)->first_success, 0.5);
}

TEST_F(RunHistoryTest, AStageIsOfAllStartsWhoseStepsAreInIt) {
  const auto judges = [&](const std::string& stage) {
    std::vector<std::string> names;
    for (const RunStart& start : history_.starts_of(stage)) names.push_back(start.judge);
    return names;
  };
  history_.begin_stage("supervised", 0);  // nobody has begun
  EXPECT_TRUE(judges("supervised").empty());
  history_.begin({.begun_s = 1.0, .judge = "first"});
  history_.begin_stage("supervised", 0);
  history_.begin_stage("contrastive", 0);
  history_.begin({.begun_s = 2.0, .judge = "killed before a checkpoint"});
  history_.begin_stage("contrastive", 8);
  history_.begin({.begun_s = 3.0, .judge = "last"});
  history_.begin_stage("contrastive", 8);
  EXPECT_EQ(judges("supervised"), std::vector<std::string>{"first"});
  EXPECT_EQ(judges("contrastive"), (std::vector<std::string>{"first", "last"}));
}

TEST_F(RunHistoryTest, LinesThatAKillCutShortArePassedOver) {
  EXPECT_TRUE(history_.starts().empty());
  history_.begin({.begun_s = 10.0});
  std::ofstream(file_, std::ios::app) << "{\"event\": \"end\", \"ti";
  history_.begin({.begun_s = 20.0});
  std::ofstream(file_, std::ios::app) << "{\"event\": \"end\"}\n[]\n";
  const std::vector<RunStart> starts = history_.starts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_FALSE(starts[1].ended_s);
}

TEST(ShellWord, IsQuotedWhereAShellWouldTakeItApart) {
  EXPECT_EQ(shell_word("run.seed=3"), "run.seed=3");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("families=[\"rows\"]"), "'families=[\"rows\"]'");
}

TEST(ShellWords, AreWhatWasPutTogether) {
  const std::vector<std::string> words{"run.seed=3", "my run", "it's", "", "families=[\"rows\"]", "-o"};
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  EXPECT_EQ(shell_words(fmt::format(" {}", fmt::join(quoted, " "))), words);
  EXPECT_TRUE(shell_words("  ").empty());
}

}  // namespace
}  // namespace cudal1
