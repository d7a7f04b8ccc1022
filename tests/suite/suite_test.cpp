#include "suite/suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/result.hpp"
#include "suite_files.hpp"

namespace cudal1 {
namespace {

std::vector<std::string> labels_of(const Suite& suite) {
  std::vector<std::string> labels;
  for (const SuiteTask& task : suite.tasks) labels.push_back(task.label());
  return labels;
}

using Labels = std::vector<std::string>;

TEST(Suite, OfACheckoutHoldsTheBenchmarkAlone) {
  const SuiteFolder folder;
  folder.write("KernelBench/level1/19_ReLU.py");
  folder.write("KernelBench/level1/2_Matmul.py");
  folder.write("KernelBench/level2/7_Conv ReLU.py");
  folder.write("src/generate.py");
  folder.write("results/level1/19_ReLU.py");
  const Suite suite = read_suite(folder.path());
  EXPECT_EQ(labels_of(suite), (Labels{"level1/2_Matmul", "level1/19_ReLU", "level2/7_Conv ReLU"}));
  EXPECT_EQ(suite.tasks[1].id, 19);
  EXPECT_EQ(suite.tasks[1].level, 1);
  EXPECT_EQ(suite.tasks[1].suite, "KernelBench");
  EXPECT_TRUE(suite.problems.empty());
  EXPECT_EQ(labels_of(read_suite(folder.path() / "KernelBench" / "level2")), Labels{"level2/7_Conv ReLU"});
}

TEST(Suite, OfAFolderLeavesHelpersAndHiddenFilesOut) {
  const SuiteFolder folder;
  folder.write("attention.py");
  folder.write("broken.py", "class Model: pass\n");  // a task, if not a good one: exporting says what is missing
  folder.write("helper.py", "width = 3\n");
  folder.write(".git/old.py");
  folder.write("__pycache__/attention.py");
  folder.write("notes.txt", "class Model");
  EXPECT_EQ(labels_of(read_suite(folder.path())), (Labels{"attention", "broken"}));
}

TEST(Suite, OfTaskFoldersTakesEachAsOneTask) {
  const SuiteFolder folder;
  folder.write("softmax/graph.json", "{}");
  folder.write("softmax/source.py");
  folder.write("gelu/graph.json", "{}");
  const Suite suite = read_suite(folder.path());
  EXPECT_EQ(labels_of(suite), (Labels{"gelu", "softmax"}));
  EXPECT_EQ(suite.tasks[1].path, folder.path() / "softmax");
  EXPECT_EQ(labels_of(read_suite(folder.path() / "gelu")), Labels{"gelu"});
  EXPECT_EQ(labels_of(read_suite(folder.path() / "gelu" / "")), Labels{"gelu"});
  EXPECT_EQ(labels_of(read_suite(folder.path() / "gelu" / "graph.json")), Labels{"gelu"});
}

TEST(Suite, OfOneFileIsThatTask) {
  const SuiteFolder folder;
  const auto file = folder.write("my model.py", "anything");
  const Suite suite = read_suite(file);
  EXPECT_EQ(labels_of(suite), Labels{"my model"});
  EXPECT_EQ(suite.tasks[0].path, file);
}

TEST(Suite, OfLinesKeepsTheGoodOnesAndNamesTheOthers) {
  const SuiteFolder folder;
  const auto file = folder.write("dev.jsonl", R"({"suite": "paper", "level": 2, "id": 4, "name": "4_Conv", "code": "x"}
{"suite": "paper", "level": 2,
not json at all

[1, 2]
{"name": "7_NoCode"}
{"code": "y"}
{"name": "8_Level", "code": "y", "level": "two"}
{"suite": "paper", "level": 2, "id": 4, "name": "4_Conv", "code": "z"}
{"problem_id": 3, "level": 1, "name": "3_Other", "code": "w"}
{"level_id": 1, "task_id": 5, "ref_code": "v"}
)");
  const Suite suite = read_suite(file);
  EXPECT_EQ(labels_of(suite), (Labels{"level1/3_Other", "level1/task_5", "level2/4_Conv"}));
  EXPECT_EQ(suite.tasks[0].suite, "dev");
  EXPECT_EQ(suite.tasks[2].suite, "paper");
  EXPECT_EQ(suite.tasks[2].code, "x");
  const std::string at = file.string() + ":";
  EXPECT_EQ(suite.problems, (Labels{at + "2: broken JSON at column 31", at + "3: broken JSON at column 2",
                                    at + "5: no JSON object", at + "6: has no \"code\"",
                                    at + "7: has neither \"name\" nor \"id\"", at + "8: \"level\" is no whole number",
                                    at + "9: the task level2/4_Conv is there already, at " + at + "1"}));
}

TEST(Suite, OfSomethingElseIsRefused) {
  const SuiteFolder folder;
  EXPECT_THROW(read_suite(folder.path() / "nothing"), Error);
  EXPECT_THROW(read_suite(folder.write("notes.txt")), Error);
  EXPECT_TRUE(read_suite(folder.write("empty/note.txt").parent_path()).tasks.empty());
  EXPECT_TRUE(read_suite(folder.write("empty.jsonl", "\n \n")).tasks.empty());
}

}  // namespace
}  // namespace cudal1
