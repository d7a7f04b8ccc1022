#include "bench/program_source.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

SuiteTask task(const std::string& name, int level, int id) {
  SuiteTask made;
  made.name = name;
  made.level = level;
  made.id = id;
  return made;
}

class ProgramSourceTest : public ::testing::Test {
 protected:
  void write(const std::string& name) const { std::ofstream(folder_.path() / name) << "//! graph\n"; }
  std::string file_for(const SuiteTask& wanted) const {
    const auto program = ProgramSource::folder(folder_.path()).program_for(wanted);
    return program ? program->file.filename().string() : "none";
  }
  TemporaryFolder folder_;
};

TEST_F(ProgramSourceTest, FindsFilesCalledLikeTheTask) {
  write("19_ReLU.cu");
  write("Soft max.cu");
  EXPECT_EQ(file_for(task("19_ReLU", 1, 19)), "19_ReLU.cu");
  EXPECT_EQ(file_for(task("23_Soft max", 1, 23)), "Soft max.cu");
  EXPECT_EQ(file_for(task("24_Other", 1, 24)), "none");
}

TEST_F(ProgramSourceTest, FindsFilesByKernelBenchsNumbers) {
  write("level_2_problem_19_sample_3_kernel.py");
  write("level_2_problem_19_sample_1_kernel.cu");
  write("README.md");
  EXPECT_EQ(file_for(task("19_ReLU", 2, 19)), "level_2_problem_19_sample_1_kernel.cu");
  EXPECT_EQ(ProgramSource::folder(folder_.path()).program_for(task("19_ReLU", 2, 19))->sample, 1);
  EXPECT_EQ(file_for(task("19_ReLU", 1, 19)), "none");
}

TEST_F(ProgramSourceTest, FindsSolutionsInLinesByNumberOrName) {
  const auto file = folder_.path() / "runs.jsonl";
  write_file_atomically(file,
                        "{\"level_id\": 1, \"task_id\": 8, \"custom_code\": \"x\"}\n"
                        "{\"name\": \"19_ReLU\", \"custom_code\": \"y\"}\n"
                        "{\"custom_code\": \"for nobody\"}\n"
                        "{broken\n");
  std::vector<std::string> problems;
  const ProgramSource source = ProgramSource::lines(file, problems);
  EXPECT_EQ(problems.size(), 2u);
  const auto eighth = source.program_for(task("8_Some", 1, 8)), named = source.program_for(task("19_ReLU", 2, 19));
  ASSERT_TRUE(eighth && named);
  EXPECT_EQ(eighth->solution, "x");
  EXPECT_EQ(eighth->origin, "runs.jsonl:1");
  EXPECT_FALSE(eighth->is_empty());
  EXPECT_EQ(named->solution, "y");
  EXPECT_FALSE(source.program_for(task("20_Tanh", 1, 20)));
  write_file_atomically(file, "{broken\n");
  EXPECT_THROW(ProgramSource::lines(file, problems), Error);
}

TEST_F(ProgramSourceTest, ANameThatFitsSeveralTasksIsForNone) {
  const auto file = folder_.path() / "runs.jsonl";
  write_file_atomically(file,
                        "{\"name\": \"ReLU\", \"custom_code\": \"x\"}\n"
                        "{\"name\": \"Tanh\", \"custom_code\": \"y\"}\n"
                        "{\"name\": \"GELU\", \"level\": 2, \"custom_code\": \"z\"}\n");
  std::vector<std::string> problems;
  ProgramSource source = ProgramSource::lines(file, problems);
  source.drop_ambiguous_lines({task("19_ReLU", 1, 19), task("3_ReLU", 2, 3), task("20_Tanh", 1, 20),
                               task("21_GELU", 1, 21), task("22_GELU", 2, 22)},
                              problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "runs.jsonl:1: 'ReLU' may be level1/19_ReLU or level2/3_ReLU: it needs a level, an id or the whole name");
  EXPECT_FALSE(source.program_for(task("19_ReLU", 1, 19)));
  EXPECT_TRUE(source.program_for(task("20_Tanh", 1, 20)));
  EXPECT_TRUE(source.program_for(task("22_GELU", 2, 22)));
}

TEST_F(ProgramSourceTest, AFolderWithoutProgramsIsAnError) {
  write("README.md");
  EXPECT_THROW(ProgramSource::folder(folder_.path()), Error);
  EXPECT_THROW(ProgramSource::folder(folder_.path() / "nowhere"), Error);
}

TEST(NoProgramsTest, EveryTaskHasTheEmptyProgram) {
  const auto program = ProgramSource().program_for(task("1_A", 1, 1));
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->is_empty());
  EXPECT_FALSE(ProgramSource::best_on_record("archive.sqlite").program_for(task("1_A", 1, 1))->is_empty());
}

}  // namespace
}  // namespace cudal1
