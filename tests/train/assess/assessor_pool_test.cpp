// Programs before the real judge in its own process, on the virtual GPU.
#include "train/assess/assessor_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "archive/archive.hpp"
#include "base/files.hpp"
#include "error_of.hpp"
#include "judge/judge.hpp"
#include "small_disk.hpp"
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

TEST_F(AssessorPoolTest, WhatIsPredictedFollowsFromSeedTaskAndPlanAlone) {
  const auto example = [](const std::string& name) {
    return read_file(std::filesystem::path(CUDAL1_SOURCE_DIR) / "examples/bias_gelu" / name);
  };
  std::string plan = example("ok-naive.cu");
  const std::string before = "  y[i] =";  // lanes part: how long one stays in this loop depends on its input
  plan.insert(plan.find(before),
              "  int steps = 0;\n  for (float rest = fabsf(value); rest > 0.01f; rest *= 0.97f) ++steps;\n"
              "  if (steps > 100000) value = 0.0f;\n");
  const auto predicted = [&](const std::string& archive, std::uint64_t seed, std::vector<std::string> texts) {
    AssessorPoolOptions made = options();
    made.setting.archive = folder.path() / archive;
    made.setting.seed = seed;
    AssessorPool pool(made);
    texts.push_back(plan);
    const Assessment last = assess(pool, texts).back();
    EXPECT_EQ(last.outcome.status, Status::ok) << last.message;
    EXPECT_FALSE(last.is_known);
    return last.outcome.speedup;
  };
  const double alone = predicted("alone.sqlite", 5, {});
  EXPECT_EQ(predicted("later.sqlite", 5, {"", "//! fuse *", example("ok-vectorised.cu")}), alone)
      << "whatever was judged before it";
  EXPECT_NE(predicted("other.sqlite", 6, {}), alone)
      << "else the plan's time does not follow its inputs, and this test says nothing";
}

TEST_F(AssessorPoolTest, AnOutageIsAnErrorAfterTwoMinutesAndNothingIsSaidOfPrograms) {
  AssessorPoolOptions dying = options();
  dying.setting.gpu = "no such GPU";
  dying.attempts = 1;
  AssessorPool pool(dying);
  const std::string message = error_of([&] { assess(pool, {"", "//! fuse *"}); });
  EXPECT_NE(message.find("no such GPU"), std::string::npos) << message;
  EXPECT_NE(message.find("the same command goes on"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_EQ(waits, (std::vector<double>{2.0, 4.0, 8.0, 16.0, 32.0, 58.0}));
  EXPECT_EQ(pool.counts().assessed, 0);
}

TEST_F(AssessorPoolTest, AProgramUnderWhichTheProcessDiesEachTimeIsNoOutage) {
  const std::string deadly(std::size_t{257} << 20, '/');  // more than the process reads
  AssessorPoolOptions impatient = options();
  impatient.attempts = 1;
  impatient.patience_seconds = 1.0;
  AssessorPool pool(impatient);
  std::vector<Assessment> assessed = assess(pool, {deadly, "//! fuse *"});
  EXPECT_EQ(assessed[0].outcome.status, Status::judge_error);
  EXPECT_EQ(assessed[1].outcome.status, Status::ok) << "it is judged without the other: " << assessed[1].message;
  assessed = assess(pool, {deadly, "//! fuse *"});
  EXPECT_EQ(assessed[0].outcome.status, Status::judge_error) << "nor where all others are known";
  EXPECT_TRUE(assessed[1].is_known);
  impatient.patience_seconds = 0.0;
  AssessorPool at_once(impatient);
  EXPECT_EQ(assess(at_once, {deadly})[0].outcome.status, Status::judge_error) << "nor where there is no other";
}

TEST_F(AssessorPoolTest, WhoIsAskedToStopSaysSoAndNoMore) {
  AssessorPoolOptions stopping = options();
  std::atomic<int> looks = 0;
  stopping.stop = [&] { return ++looks > 3; };
  AssessorPool pool(stopping);
  const std::vector<Assessment> assessed = assess(pool, {"//! fuse *"});
  EXPECT_EQ(assessed[0].outcome.status, Status::judge_error);
  EXPECT_EQ(assessed[0].message, "somebody asked to stop");
  EXPECT_TRUE(reports.empty()) << reports.front();
  EXPECT_TRUE(waits.empty());
}

//! Leaves no room for another record.
void fill(Archive& archive) {
  EvaluationRecord record;
  for (std::string text = "a program"; true; text += std::string(5'000, 'x'))
    if (!error_of([&] { archive.record({"a task", "name", "{}"}, text, record); }).empty()) return;
}

TEST_F(AssessorPoolTest, AFullDiskIsAnErrorAtOnce) {
  const std::filesystem::path disk = folder.path() / "disk";
  std::filesystem::create_directories(disk);
  testing::run_on_small_disk(disk, [&] {
    Archive archive(disk / "archive.sqlite");
    fill(archive);
    AssessorPoolOptions made = options();
    made.setting.archive = disk / "archive.sqlite";
    AssessorPool pool(made);
    const std::string message = error_of([&] { assess(pool, {"//! fuse *"}); });
    testing::demand(message.find("disk is full") != std::string::npos, "another message: " + message);
    testing::demand(waits.empty() && reports.empty(), "nobody has to be patient with a disk");
  });
}

}  // namespace
}  // namespace cudal1
