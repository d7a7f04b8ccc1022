// Text and graph mean the same: the bridge exports the text, and what it makes of it is the graph.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "bridge/module_task.hpp"
#include "bridge/python_nursery.hpp"
#include "tasks/generated_task.hpp"
#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::draw_leaves;
using testing::run_task;

//! Without where their values come from: the bridge keeps those of a construction.
json without_sources(json leaves) {
  for (json& leaf : leaves)
    for (const char* key : {"draw", "key"}) leaf.erase(key);
  return leaves;
}

json part(const json& graph, const char* key) { return graph.value(key, json::array()); }

void expect_same_graph(const json& generated, const json& exported) {
  EXPECT_EQ(part(generated, "inputs"), part(exported, "inputs"));
  for (const char* key : {"weights", "state"})
    EXPECT_EQ(without_sources(part(generated, key)), without_sources(part(exported, key)));
  ASSERT_EQ(generated["nodes"].size(), exported["nodes"].size());
  for (std::size_t i = 0; i < generated["nodes"].size(); ++i) EXPECT_EQ(generated["nodes"][i], exported["nodes"][i]);
  EXPECT_EQ(generated["outputs"], exported["outputs"]);
}

void expect_same_results(const Task& generated, const Task& exported) {
  const TensorTable leaves = draw_leaves(exported);
  TensorTable same(generated.graph.values.size());
  for (const LeafSource& leaf : generated.leaves)
    same[leaf.value] = leaves[exported.graph.find_value(generated.graph.values[leaf.value].name)];
  const auto actual = run_task(generated, same), expected = run_task(exported, leaves);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) testing::expect_same(actual[i], expected[i]);
}

std::int64_t elements(const GeneratedTask& generated) {
  Task task = parse_task(generated.graph_json, "");
  infer_metas(task);
  std::int64_t sum = 0;
  for (const Value& value : task.graph.values) sum += value.meta.numel();
  return sum;
}

//! As many as CUDAL1_GENERATED_TASKS says: a large number after a change to the vocabulary.
std::size_t sample_size() {
  const char* given = std::getenv("CUDAL1_GENERATED_TASKS");
  return given ? static_cast<std::size_t>(std::atoi(given)) : 28;
}

class GeneratedTaskBridge : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDAL1_PYTHON", CUDAL1_TEST_PYTHON, 1);
    setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    const std::string command = std::string(CUDAL1_TEST_PYTHON) + " -c 'import torch' 2> /dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << CUDAL1_TEST_PYTHON << " has no torch";
  }
  void TearDown() override { unsetenv("CUDAL1_CACHE_DIR"); }

  TemporaryFolder folder_;
};

TEST_F(GeneratedTaskBridge, ExportsTheTextAsTheGraph) {
  const PythonNursery nursery(1);
  GenerationOptions options;
  options.count = sample_size();
  options.seed = 31;
  options.accept = [](const GeneratedTask& task) { return elements(task) < 3'000'000; };
  for (const GeneratedTask& generated : generate_tasks(options)) {
    SCOPED_TRACE(generated.module_text + generated.graph_json);
    const fs::path module = write_generated_task(generated, folder_.path()) / "source.py";
    const fs::path exported = task_of_module(module);
    expect_same_graph(json::parse(generated.graph_json), json::parse(read_file(exported / "graph.json")));
    if (HasFailure()) break;
    expect_same_results(load_task(module.parent_path()), load_task(exported));
  }
}

}  // namespace
}  // namespace cudal1
