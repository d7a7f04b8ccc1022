// Solutions as other projects lay them out.
#include "dialect/solution_files.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(SolutionFiles, FolderOfARunNamesLevelAndProblem) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "level_2_problem_40_sample_0_kernel.py", "a");
  write_file_atomically(folder.path() / "level_2_problem_40_sample_1_kernel.py", "b");
  write_file_atomically(folder.path() / "level_1_problem_40_sample_0_kernel.py", "c");
  write_file_atomically(folder.path() / "notes.py", "d");
  const SolutionFiles files = read_solutions(folder.path());
  ASSERT_EQ(files.solutions.size(), 3u);
  const auto chosen = solutions_for(files.solutions, 2, 40, "40_Something");
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].text, "a");
  EXPECT_EQ(chosen[1].text, "b");
}

TEST(SolutionFiles, LinesHoldCustomCodeAndBrokenOnesAreNamed) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "runs.jsonl";
  write_file_atomically(file,
                        "{\"level_id\": 1, \"task_id\": 8, \"custom_code\": \"x\"}\n"
                        "{\"level\": 1}\n"
                        "{broken\n"
                        "\n"
                        "{\"name\": \"relu\", \"custom_code\": \"y\"}\n");
  const SolutionFiles files = read_solutions(file);
  ASSERT_EQ(files.solutions.size(), 2u);
  EXPECT_EQ(files.solutions[0].name, "runs.jsonl:1");
  EXPECT_EQ(files.problems.size(), 2u);
  EXPECT_EQ(solutions_for(files.solutions, 1, 8, "8_Other").size(), 1u);
  EXPECT_EQ(solutions_for(files.solutions, 1, 10, "relu").size(), 1u);
}

TEST(SolutionFiles, OneFencedBlockIsTheCodeInIt) {
  const TemporaryFolder folder;
  const auto text_of = [&](const std::string& text) {
    write_file_atomically(folder.path() / "answer.py", text);
    return read_solutions(folder.path() / "answer.py").solutions.at(0).text;
  };
  EXPECT_EQ(text_of("```python\nimport torch\n\nx = 1\n```\n"), "\nimport torch\n\nx = 1\n");
  EXPECT_EQ(text_of("\n ```py\r\nx = 1\r\n ```  \r\n\n"), "\n\nx = 1\r\n") << "its line is the third";
  EXPECT_EQ(text_of("```\nx = 1\n```"), "\nx = 1\n");
  for (const char* text : {"x = 1\n", "", "```", "```python\nx = 1\n", "Here:\n```python\nx = 1\n```\n",
                           "```python\nx = 1\n```\nThat is all.", "```python\nx = 1\n```\n```\ny\n```\n",
                           "\"\"\"\n```python\nx\n```\n\"\"\"\n", "```python\nx = 1\n```python\n"})
    EXPECT_EQ(text_of(text), text);
  write_file_atomically(folder.path() / "runs.jsonl", R"({"id": 1, "custom_code": "```python\nx = 1\n```"})");
  EXPECT_EQ(read_solutions(folder.path() / "runs.jsonl").solutions.at(0).text, "\nx = 1\n");
}

TEST(SolutionFiles, SamplesComeInTheOrderOfTheirNumbers) {
  const TemporaryFolder folder;
  for (const char* sample : {"10", "2", "1"})
    write_file_atomically(folder.path() / ("level_1_problem_4_sample_" + std::string(sample) + "_kernel.py"), sample);
  std::string order;
  for (const SolutionText& solution : read_solutions(folder.path()).solutions) order += solution.text + " ";
  EXPECT_EQ(order, "1 2 10 ");
}

TEST(SolutionFiles, NamesMatchWithAndWithoutTheirNumber) {
  EXPECT_TRUE(names_match("ReLU", "19_ReLU"));
  EXPECT_TRUE(names_match("19_ReLU", "ReLU"));
  EXPECT_TRUE(names_match("19_ReLU", "19_ReLU"));
  EXPECT_FALSE(names_match("20_ReLU", "19_ReLU"));
  EXPECT_FALSE(names_match("19", "19_ReLU"));
}

TEST(SolutionFiles, AFileIsForWhomeverItIsGivenTo) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "fast.py", "z");
  const auto solutions = read_solutions(folder.path() / "fast.py").solutions;
  ASSERT_EQ(solutions.size(), 1u);
  EXPECT_EQ(solutions_for(solutions, 3, 4, "any").size(), 1u);
  EXPECT_THROW(read_solutions(folder.path() / "none.py"), Error);
}

}  // namespace
}  // namespace cudal1
