// What a run writes of when and where it ran can be read again, also after a kill.
#include "train/run/run_history.hpp"

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

}  // namespace
}  // namespace cudal1
