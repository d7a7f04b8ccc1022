#include "train/report/program_progress.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_of.hpp"

namespace cudal1 {
namespace {

TrainingExample sample(const std::string& task, const std::string& group, const std::string& program, double speedup,
                       const std::string& plan = "plan") {
  TrainingExample made;
  made.task = task;
  made.group = group;
  made.completion = "Analysis: none.\n" + program;
  made.plan_hash = plan;
  made.speedup = speedup;
  return made;
}

constexpr const char* narrow = "//! fuse gelu_1 softmax_1 : lanes=32 vector=4\n";
constexpr const char* wide = "//! fuse gelu_1 softmax_1 : lanes=64 vector=4\n//! graph\n";

TEST(ProgramProgress, IsOfTheEarliestSuccessAndTheBestOne) {
  const std::vector<TrainingExample> samples{
      sample("rows", "0-0-0", "//! nonsense\n", 0.0), sample("rows", "2-1-0", narrow, 0.8, "a"),
      sample("rows", "2-1-1", wide, 1.5, "b"),        sample("rows", "4-0-0", wide, 2.0, "b"),
      sample("rows", "10-0-0", wide, 2.0, "b"),       sample("rows", "11-0-0", narrow, 1.9, "a")};
  const std::vector<ProgramProgress> tasks = progress_of_tasks(samples, {"b"});
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].earliest.step, 3) << "counted from 1";
  EXPECT_EQ(tasks[0].earliest.speedup, 0.8);
  EXPECT_EQ(tasks[0].best.step, 5) << "of equally fast ones the earliest";
  EXPECT_NE(tasks[0].best.text.find("lanes=64"), std::string::npos);
  EXPECT_NEAR(tasks[0].gain(), std::log(2.5), 1e-12);
  EXPECT_EQ(tasks[0].samples, 6u);
  EXPECT_EQ(tasks[0].successes, 5u);
  EXPECT_TRUE(tasks[0].best.is_the_writers);
  EXPECT_FALSE(tasks[0].earliest.is_the_writers);
}

TEST(ProgramProgress, TheLargestGainComesFirstAndTasksWithoutSuccessDoNotCome) {
  const std::vector<TrainingExample> samples{
      sample("fast", "0-0-0", narrow, 10.0), sample("fast", "9-0-0", wide, 11.0), sample("never", "0-0-0", "", 0.0),
      sample("slow", "0-1-0", narrow, 0.5),  sample("slow", "9-1-0", wide, 1.0),  sample("even", "0-2-0", narrow, 1.0)};
  std::vector<std::string> names;
  for (const ProgramProgress& task : progress_of_tasks(samples, {})) names.push_back(task.task);
  EXPECT_EQ(names, (std::vector<std::string>{"slow", "fast", "even"}));
}

TEST(ProgramProgress, AGroupWithoutAStepIsNamed) {
  EXPECT_NE(error_of([] { progress_of_tasks(std::vector{sample("rows", "of a prompt", narrow, 1.0)}, {}); })
                .find("'of a prompt' is no group"),
            std::string::npos);
}

TEST(ChangeInWords, NamesDirectivesAndParameters) {
  EXPECT_EQ(change_in_words(narrow, wide), "graph, lanes=64");
  EXPECT_EQ(change_in_words(wide, narrow), "no graph, lanes=32");
  EXPECT_EQ(change_in_words(wide, wide), "nothing");
  EXPECT_EQ(change_in_words(narrow, "__global__ void k() {}\n//! graph\n"), "code of its own, which has no short words");
}

}  // namespace
}  // namespace cudal1
