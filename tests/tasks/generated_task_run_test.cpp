// Generated tasks on the CPU: each can be inferred and run, and says something about its inputs.
#include <gtest/gtest.h>

#include "policy/search/reference_time.hpp"
#include "tasks/generated_task.hpp"
#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::draw_leaves;
using testing::run_task;

Task task_of(const GeneratedTask& generated) {
  Task task = parse_task(generated.graph_json, "");
  infer_metas(task);
  return task;
}

std::int64_t elements(const Task& task) {
  std::int64_t sum = 0;
  for (const Value& value : task.graph.values) sum += value.meta.numel();
  return sum;
}

//! Small ones, which two processors can run.
std::vector<GeneratedTask> small_tasks(std::size_t count, std::uint64_t seed) {
  GenerationOptions options;
  options.count = count;
  options.seed = seed;
  options.accept = [](const GeneratedTask& task) { return elements(task_of(task)) < 3'000'000; };
  return generate_tasks(options);
}

double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

TEST(GeneratedTaskRuns, AreFiniteAndFollowTheirInputs) {
  for (const GeneratedTask& generated : small_tasks(70, 21)) {
    SCOPED_TRACE(generated.graph_json);
    const Task task = task_of(generated);
    const TensorTable leaves = draw_leaves(task);
    TensorTable others = leaves;
    draw_inputs(task, Distribution::native, 8, at::kCPU, others);
    const auto outputs = run_task(task, leaves), other_outputs = run_task(task, others);
    ASSERT_EQ(outputs.size(), task.graph.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(at::isfinite(outputs[i]).all().item<bool>());
      EXPECT_GT(largest(outputs[i] - outputs[i].mean()), 1e-3 * largest(outputs[i]));
      EXPECT_GT(largest(outputs[i] - other_outputs[i]), 1e-3 * largest(outputs[i]));
    }
  }
}

TEST(GeneratedTaskRuns, EveryInputAndWeightMatters) {
  for (const GeneratedTask& generated : small_tasks(28, 22)) {
    const Task task = task_of(generated);
    const TensorTable leaves = draw_leaves(task);
    const auto outputs = run_task(task, leaves);
    for (const std::vector<ValueId>* kind : {&task.graph.inputs, &task.graph.weights})
      for (const ValueId id : *kind) {
        TensorTable changed = leaves;
        changed[id] = at::randn_like(leaves[id]) * 0.5 + 0.25;
        const auto other = run_task(task, changed);
        bool differs = false;
        for (std::size_t i = 0; i < outputs.size(); ++i) differs = differs || !at::equal(outputs[i], other[i]);
        EXPECT_TRUE(differs) << task.graph.values[id].name << " of\n" << generated.graph_json;
      }
  }
}

TEST(GeneratedTaskRuns, CanBeInferredWhateverTheirSizes) {
  GenerationOptions options;
  options.count = 210;
  options.seed = 23;
  for (const GeneratedTask& generated : generate_tasks(options))
    EXPECT_NO_THROW(task_of(generated)) << generated.graph_json;
}

TEST(ReferenceTime, ChoosesTasksWithinItsBounds) {
  const vgpu::GpuProfile h200 = vgpu::find_profile("h200");
  const TimeBounds bounds;
  GenerationOptions options;
  options.count = 70;
  options.seed = 24;
  std::size_t tried = 0;
  options.accept = [&](const GeneratedTask& task) {
    ++tried;
    return is_expected_within(h200, task_of(task).graph, bounds);
  };
  const auto tasks = generate_tasks(options);
  for (const GeneratedTask& task : tasks) {
    const double us = expected_reference_us(h200, task_of(task).graph);
    EXPECT_GE(us, 15.0);
    EXPECT_LE(us, 200.0);
  }
  EXPECT_LT(tried, 4 * tasks.size());  // sizes are drawn for such times in the first place
}

}  // namespace
}  // namespace cudal1
