#include "bench/memory_need.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/graph_bytes.hpp"
#include "chain_task.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

TEST(GraphBytes, CountsWhatIsAliveTogether) {
  const GraphBytes bytes = graph_bytes(chain(1000).graph, Width::own);
  EXPECT_EQ(bytes.inputs, 4000u);
  EXPECT_EQ(bytes.weights, 4000u);
  EXPECT_EQ(bytes.results, 4000u);
  EXPECT_EQ(bytes.most_alive, 8000u) << "what a node reads, and what it makes of it";
  EXPECT_EQ(bytes.largest, 4000u);
}

TEST(GraphBytes, AreTheOraclesInFp64) {
  EXPECT_EQ(graph_bytes(chain(1000, "f16").graph, Width::own).most_alive, 4000u);
  EXPECT_EQ(graph_bytes(chain(1000, "f16").graph, Width::fp64).most_alive, 16000u);
}

TEST(GraphBytes, AViewKeepsWhatItLooksAt) {
  Task task = chain(1000);
  Value& relu = task.graph.values[static_cast<std::size_t>(task.graph.find_value("relu_1"))];
  relu.view = ViewOf{task.graph.find_value("exp_1"), 0};
  const GraphBytes bytes = graph_bytes(task.graph, Width::own);
  EXPECT_EQ(bytes.most_alive, 8000u) << "exp_1 through its view, and add_1";
}

TEST(MemoryNeed, OfSmallTasksIsThatOfTheirProcesses) {
  const Task task = chain(1000);
  EXPECT_LT(judge_bytes(task), 8 * gibibyte) << "or few would be judged at once";
  EXPECT_LT(worker_bytes(task, {"eager", "compile"}), 2 * gibibyte);
  EXPECT_LT(comparison_bytes(task), 3 * gibibyte);
}

TEST(MemoryNeed, GrowsWithTheTensors) {
  const Task small = chain(1000), large = chain(1 << 28);  // 1 GiB each
  // An arena with input, weight and output; three fp64 draws, the oracle, and what is alive with it.
  EXPECT_GT(judge_bytes(large), judge_bytes(small) + (3 + 2 * 4 + 2 * 4) * gibibyte);
  EXPECT_GT(comparison_bytes(large), comparison_bytes(small) + (2 * 4 + 2 * 4) * gibibyte);
  EXPECT_LT(comparison_bytes(large), judge_bytes(large)) << "it has no arena";
}

TEST(MemoryNeed, OfInputSetsIsThatOfTheirTensors) {
  EXPECT_EQ(input_sets_bytes(chain(1000)), 10 * (4000u + 18000u) + 2 * 4000u)
      << "ten inputs, half as much again as their results in two widths, and weights twice";
}

TEST(MemoryNeed, OfAWorkerGrowsWithItsModelsAndRecordedGraphs) {
  const Task task = chain(1 << 28);
  const std::uint64_t eager = worker_bytes(task, {"eager"});
  EXPECT_EQ(worker_bytes(task, {"eager", "compile"}), eager + gibibyte) << "weights of its own";
  EXPECT_GT(worker_bytes(task, {"eager", "cuda-graph"}), eager + 4 * gibibyte) << "inputs, intermediates, outputs";
}

TEST(MemoryNeed, IsLargerBehindAStep) {
  EXPECT_GT(judge_bytes(chain(1 << 28, "f32", "aten::round")), judge_bytes(chain(1 << 28)) + 16 * 2 * gibibyte)
      << "where more draws are kept";
}

}  // namespace
}  // namespace cudal1
