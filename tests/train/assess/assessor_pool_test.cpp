// Programs before the real judge in its own process, on the virtual GPU.
#include "train/assess/assessor_pool.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "judge/judge.hpp"
#include "small_task.hpp"

namespace cudal1 {
namespace {

class AssessorPoolTest : public ::testing::Test {
 protected:
  AssessorPoolTest()
      : task{"example", load_task_with_metas(testing::make_small_task(
                            std::filesystem::path(CUDAL1_SOURCE_DIR) / "examples/bias_gelu", folder.path() / "task"))} {
  }

  AssessorPoolOptions options() {
    AssessorPoolOptions made;
    made.setting.archive = folder.path() / "archive.sqlite";
    made.report = [this](const std::string& line) { reports.push_back(line); };
    made.wait = [this](double seconds) { waits.push_back(seconds); };
    return made;
  }
  std::vector<Assessment> assess(AssessorPool& pool, const std::vector<std::string>& texts) const {
    std::vector<SubmittedProgram> programs;
    for (const std::string& text : texts) programs.push_back({&task, text});
    return pool.assess(programs);
  }

  TemporaryFolder folder;
  TrainingTask task;
  std::vector<std::string> reports;
  std::vector<double> waits;
};

TEST_F(AssessorPoolTest, ProgramsAreJudgedOnceAndForAllWhoShareTheArchive) {
  const std::vector<std::string> texts{"//! fuse *", "//! fuse *\n// the same plan\n", "", "//! fuse nothing_1"};
  AssessorPool pool(options());
  const std::vector<Assessment> first = assess(pool, texts);
  EXPECT_EQ(first[0].outcome.status, Status::ok) << first[0].message;
  EXPECT_GT(first[0].outcome.speedup, 0.0);
  EXPECT_NEAR(first[0].outcome.replaced_share, 1.0, 1e-9);
  EXPECT_FALSE(first[0].is_known);
  EXPECT_FALSE(first[0].techniques.empty());
  EXPECT_EQ(first[1].outcome.plan_hash, first[0].outcome.plan_hash);
  EXPECT_EQ(first[2].outcome.plan_hash, pool.empty_plan_hash(task));
  EXPECT_EQ(first[2].outcome.replaced_share, 0.0);
  EXPECT_EQ(first[3].outcome.status, Status::plan_error);
  EXPECT_NE(first[3].message.find("nothing_1"), std::string::npos) << first[3].message;
  AssessorPool other(options());
  const std::vector<Assessment> again = assess(other, texts);
  EXPECT_TRUE(again[0].is_known);
  EXPECT_EQ(again[0].outcome.speedup, first[0].outcome.speedup);
  EXPECT_EQ(again[0].outcome.replaced_share, first[0].outcome.replaced_share);
  EXPECT_EQ(other.counts().known, 3);
}

TEST_F(AssessorPoolTest, AProcessThatDiesIsReplacedAndWhatItHadIsNobodysFault) {
  AssessorPoolOptions dying = options();
  dying.setting.gpu = "no such GPU";
  dying.attempts = 2;
  dying.patience_seconds = 10.0;
  AssessorPool pool(dying);
  const std::vector<Assessment> assessed = assess(pool, {"", "//! fuse *"});
  for (const Assessment& assessment : assessed) {
    EXPECT_EQ(assessment.outcome.status, Status::judge_error);
    EXPECT_NE(assessment.message.find("no such GPU"), std::string::npos) << assessment.message;
  }
  EXPECT_EQ(waits, (std::vector<double>{2.0, 4.0})) << "8 s more would be too long";
  EXPECT_GE(reports.size(), 6u);
}

}  // namespace
}  // namespace cudal1
