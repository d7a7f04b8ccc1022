// What a set of generated tasks is like, without running any.
#include "tasks/generated_task.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::vector<GeneratedTask> generate(std::size_t count, std::uint64_t seed, std::optional<double> difficulty = {},
                                    std::optional<TaskSplit> split = {}) {
  GenerationOptions options;
  options.count = count;
  options.seed = seed;
  options.difficulty = difficulty;
  options.split = split;
  return generate_tasks(options);
}

double mean_nodes(double difficulty) {
  double sum = 0.0;
  const auto tasks = generate(280, 5, difficulty);
  for (const GeneratedTask& task : tasks) sum += static_cast<double>(task.nodes);
  return sum / static_cast<double>(tasks.size());
}

//! How many sizes of inputs and weights are no multiple of four.
std::size_t odd_sizes(double difficulty) {
  std::size_t odd = 0;
  for (const GeneratedTask& generated : generate(280, 6, difficulty)) {
    const Task task = parse_task(generated.graph_json, "");
    for (const ValueId input : task.graph.inputs)
      for (const std::int64_t size : task.graph.values[input].meta.sizes) odd += size > 32 && size % 4 != 0;
  }
  return odd;
}

TEST(GeneratedTasks, AreTheSameForTheSameSeed) {
  const auto once = generate(60, 3), again = generate(60, 3), other = generate(60, 4);
  std::set<std::string> hashes;
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].graph_json, again[i].graph_json);
    EXPECT_EQ(once[i].module_text, again[i].module_text);
    hashes.insert(once[i].hash);
  }
  std::size_t shared = 0;
  for (const GeneratedTask& task : other) shared += hashes.contains(task.hash);
  EXPECT_LT(shared, 5u);
}

TEST(GeneratedTasks, AreTheSameOnEveryMachine) {
  // Pinned: whoever changes what a seed gives makes runs of before incomparable, and should know.
  std::string names;
  for (const GeneratedTask& task : generate(7, 1)) names += task.name + "\n";
  EXPECT_EQ(names,
            "product_d4888d6d8b0d\nrows_7f25b5159143\npointwise_64aee65b80ac\nconvolution_d9869901131a\n"
            "attention_59fc135835fe\nrecurrent_55f794184825\nmix_0f6266f714f5\n");
}

TEST(GeneratedTasks, BeginAlikeHoweverManyAreWanted) {
  const auto few = generate(10, 3), many = generate(30, 3);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].hash, many[i].hash);
}

TEST(GeneratedTasks, AreAllDifferentAndOfAllFamilies) {
  std::set<std::string> hashes, names;
  std::map<std::string, std::size_t> families;
  const auto tasks = generate(700, 1);
  for (const GeneratedTask& task : tasks) {
    hashes.insert(task.hash);
    names.insert(task.name);
    ++families[task.family];
  }
  EXPECT_EQ(hashes.size(), tasks.size());
  EXPECT_EQ(names.size(), tasks.size());
  EXPECT_EQ(families.size(), module_families().size());
  for (const auto& [family, count] : families) EXPECT_EQ(count, 100u) << family;
}

TEST(GeneratedTasks, OfEasySeedsDifferToo) {
  std::set<std::string> hashes;
  for (const GeneratedTask& task : generate(350, 2, 0.0)) hashes.insert(task.hash);
  EXPECT_EQ(hashes.size(), 350u);
}

TEST(GeneratedTasks, AreWhatTheirHashSays) {
  for (const GeneratedTask& generated : generate(70, 9)) {
    const Task task = parse_task(generated.graph_json, "");
    EXPECT_EQ(task.name, generated.name);
    EXPECT_EQ(task.graph.nodes.size(), generated.nodes);
    EXPECT_EQ(generated.split, split_of_hash(generated.hash));
    EXPECT_TRUE(generated.name.starts_with(generated.family + "_" + generated.hash.substr(0, 12)));
  }
}

TEST(GeneratedTasks, AreSplitByTheirHash) {
  std::map<TaskSplit, std::set<std::string>> hashes;
  for (const GeneratedTask& task : generate(2000, 1)) hashes[task.split].insert(task.hash);
  EXPECT_NEAR(static_cast<double>(hashes[TaskSplit::train].size()) / 2000.0, 0.74, 0.04);
  EXPECT_NEAR(static_cast<double>(hashes[TaskSplit::validation].size()) / 2000.0, 0.08, 0.025);
  EXPECT_NEAR(static_cast<double>(hashes[TaskSplit::test].size()) / 2000.0, 0.18, 0.035);
  // Another seed, another split: nothing of it was in training.
  for (const GeneratedTask& task : generate(300, 2, {}, TaskSplit::test)) {
    EXPECT_EQ(task.split, TaskSplit::test);
    EXPECT_FALSE(hashes[TaskSplit::train].contains(task.hash));
    EXPECT_FALSE(hashes[TaskSplit::validation].contains(task.hash));
  }
}

TEST(GeneratedTasks, SplitsDependOnTheHashAlone) {
  EXPECT_EQ(split_of_hash("00000000ffff"), TaskSplit::train);       // 0
  EXPECT_EQ(split_of_hash("00000049ffff"), TaskSplit::train);       // 73
  EXPECT_EQ(split_of_hash("0000004affff"), TaskSplit::validation);  // 74
  EXPECT_EQ(split_of_hash("00000051ffff"), TaskSplit::validation);  // 81
  EXPECT_EQ(split_of_hash("00000052ffff"), TaskSplit::test);        // 82
  EXPECT_EQ(split_of_hash("00000063ffff"), TaskSplit::test);        // 99
  EXPECT_EQ(split_of_hash("00000064ffff"), TaskSplit::train);       // 100
  EXPECT_EQ(task_split_from_string("validation"), TaskSplit::validation);
  EXPECT_EQ(task_split_from_string("dev"), std::nullopt);
}

TEST(GeneratedTasks, GrowWithDifficulty) {
  const double easy = mean_nodes(0.0), middle = mean_nodes(0.5), hard = mean_nodes(1.0);
  EXPECT_LT(easy + 1.0, middle);
  EXPECT_LT(middle + 1.0, hard);
  EXPECT_EQ(odd_sizes(0.0), 0u);
  EXPECT_GT(odd_sizes(1.0), 2 * odd_sizes(0.3));
}

TEST(GeneratedTasks, AreMixesOfThreeToSixNodes) {
  for (const std::optional<double> difficulty : {std::optional<double>(), {0.0}, {1.0}}) {
    GenerationOptions options;
    options.count = 300;
    options.seed = 4;
    options.difficulty = difficulty;
    options.families = {"mix"};
    std::set<std::size_t> sizes;
    for (const GeneratedTask& task : generate_tasks(options)) sizes.insert(task.nodes);
    EXPECT_GE(*sizes.begin(), 3u);
    EXPECT_LE(*sizes.rbegin(), 6u);
  }
}

TEST(GeneratedTasks, AreThoseThatAreAccepted) {
  GenerationOptions options;
  options.count = 40;
  options.accept = [](const GeneratedTask& task) { return task.nodes >= 4; };
  for (const GeneratedTask& task : generate_tasks(options)) EXPECT_GE(task.nodes, 4u);
  options.accept = [](const GeneratedTask&) { return false; };
  EXPECT_THROW(generate_tasks(options), Error);
}

TEST(GeneratedTasks, AreWrittenAsTaskFolders) {
  const TemporaryFolder folder;
  const GeneratedTask generated = generate(1, 1).front();
  for (int times = 0; times < 2; ++times) {
    const fs::path made = write_generated_task(generated, folder.path() / "tasks");
    EXPECT_EQ(made, folder.path() / "tasks" / generated.name);
    EXPECT_EQ(load_task(made).name, generated.name);
    EXPECT_EQ(read_file(made / "source.py"), generated.module_text);
  }
  fs::create_directories(folder.path() / "mine" / generated.name);
  std::ofstream(folder.path() / "mine" / generated.name / "notes.txt") << "keep";
  EXPECT_THROW(write_generated_task(generated, folder.path() / "mine"), Error);
}

}  // namespace
}  // namespace cudal1
