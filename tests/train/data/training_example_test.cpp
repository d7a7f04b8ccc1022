// Examples survive their file, and a damaged file says where it is damaged.
#include "train/data/training_example.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

TrainingExample sample_example() {
  return {.task = "rows_0123456789ab",
          .split = TaskSplit::validation,
          .group = "g",
          .prompt = "Task \"x\"\nline 2 é\n",
          .completion = "Analysis: one program, 1.25; try graph.\n//! graph\n",
          .plan_hash = "abc",
          .speedup = 1.25,
          .reward = 0.22314355131420976,
          .exemplars = 1,
          .form = ProgramForm::written_out};
}

std::string error_of(const std::string& line) {
  try {
    example_from_json_line(line, "pairs.jsonl:3");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(TrainingExample, IsOneLineThatReadsBack) {
  const std::string line = to_json_line(sample_example());
  EXPECT_EQ(line.find('\n'), line.npos);
  EXPECT_EQ(example_from_json_line(line, ""), sample_example());
}

TEST(TrainingExample, SurvivesItsFile) {
  const TemporaryFolder folder;
  const std::vector<TrainingExample> examples(3, sample_example());
  write_examples(folder.path() / "pairs.jsonl", examples);
  EXPECT_EQ(read_examples(folder.path() / "pairs.jsonl"), examples);
}

TEST(TrainingExample, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(error_of("{\"task\": \"x"), "pairs.jsonl:3: this is no JSON: the line is damaged or cut off");
  std::string line = to_json_line(sample_example());
  line.replace(line.find("validation"), 10, "everything");
  EXPECT_EQ(error_of(line), "pairs.jsonl:3: split: expected train, validation or test");
  EXPECT_NE(error_of("{}").find("pairs.jsonl:3: the key \"task\" is missing"), std::string::npos) << error_of("{}");
}

TEST(TrainingExample, NamesTheLineOfItsFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "pairs.jsonl";
  write_file_atomically(file, to_json_line(sample_example()) + "\n\n{broken\n");
  try {
    read_examples(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(file.string() + ":3: ")) << error.what();
  }
}

TEST(TrainingExample, GroupsAreThoseOfOnePrompt) {
  EXPECT_EQ(group_of_prompt("a"), group_of_prompt("a"));
  EXPECT_NE(group_of_prompt("a"), group_of_prompt("b"));
}

}  // namespace
}  // namespace cudal1
