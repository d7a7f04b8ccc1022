// The same graphs on a GPU: close to the CPU's results, statuses and shapes alike.
#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::draw_leaves;
using testing::expect_same;
using testing::make_task;
using testing::one_input;
using testing::run_task;

class ExecutorOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA GPU, or a PyTorch without CUDA";
  }
};

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.cpu().to(at::kDouble) - b.cpu().to(at::kDouble)).abs().max().item<double>();
}

TEST_F(ExecutorOnGpu, AgreesWithTheCpuAndWithTheOracle) {
  const Task task = make_task(one_input("f32", "[64, 128]"), R"(
      {"name": "gelu_1", "op": "aten::gelu", "args": ["x"]},
      {"name": "softmax_1", "op": "aten::softmax.int", "args": ["gelu_1", -1]},
      {"name": "einsum_1", "op": "aten::einsum", "args": [{"string": "ab,cb->ac"}, ["softmax_1", "x"]]},
      {"name": "max_1", "op": "aten::max.dim", "args": ["einsum_1", 1]},
      {"name": "zeros_1", "op": "aten::zeros", "args": [[4]]})",
                              R"("softmax_1", "einsum_1", "max_1[1]", "zeros_1")");
  const TensorTable leaves = draw_leaves(task);
  const auto cpu = run_task(task, leaves);
  const auto gpu = run_task(task, leaves, {.device = at::kCUDA});
  const auto oracle = run_task(task, leaves, {.device = at::kCUDA, .fp64 = true});
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_TRUE(gpu[i].is_cuda());
    EXPECT_EQ(gpu[i].scalar_type(), cpu[i].scalar_type());
  }
  EXPECT_LT(largest_difference(cpu[0], gpu[0]), 1e-6);
  EXPECT_LT(largest_difference(cpu[1], gpu[1]), 1e-5);
  EXPECT_LT(largest_difference(gpu[1], oracle[1]), 1e-5);
  EXPECT_EQ(oracle[1].scalar_type(), at::kDouble);
  expect_same(gpu[2], cpu[2]);
}

TEST_F(ExecutorOnGpu, InputsCanBeDrawnThereReproducibly) {
  const Task task =
      make_task(one_input("f16", "[100]"), R"({"name": "n", "op": "aten::relu", "args": ["x"]})", R"("n")");
  expect_same(draw_leaves(task, at::kCUDA)[0], draw_leaves(task, at::kCUDA)[0]);
  for (const Distribution distribution : distributions_of(task)) {
    TensorTable table;
    draw_inputs(task, distribution, 1, at::kCUDA, table);
    EXPECT_TRUE(table[0].is_cuda());
    EXPECT_TRUE(table[0].isfinite().all().item<bool>());
  }
}

TEST_F(ExecutorOnGpu, ConvolutionsUseTf32UnlessStrict) {
  Task task =
      make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4, 64, 32, 32], "draw": {"kind": "normal"}},
      {"name": "w", "dtype": "f32", "shape": [64, 64, 3, 3], "draw": {"kind": "normal"}}])",
                R"({"name": "n", "op": "aten::conv2d", "args": ["x", "w"]})", R"("n")");
  infer_metas(task);
  const TensorTable leaves = draw_leaves(task);
  const at::Tensor oracle = run_task(task, leaves, {.device = at::kCUDA, .fp64 = true})[0];
  const auto error_of = [&](PrecisionPolicy precision, ReferenceVariant variant, at::Device device) {
    return largest_difference(run_task(task, leaves, {.device = device, .variant = variant, .precision = precision})[0],
                              oracle);
  };
  const double strict = error_of(PrecisionPolicy::strict, ReferenceVariant::standard, at::kCUDA);
  const double standard = error_of(PrecisionPolicy::standard, ReferenceVariant::standard, at::kCUDA);
  const double on_cpu = error_of(PrecisionPolicy::standard, ReferenceVariant::standard, at::kCPU);
  EXPECT_GT(standard, 10 * strict);
  EXPECT_LT(standard / on_cpu, 4);
  EXPECT_GT(standard / on_cpu, 0.25);
  EXPECT_LT(error_of(PrecisionPolicy::standard, ReferenceVariant::no_cudnn, at::kCUDA), 4 * standard);
  EXPECT_LT(error_of(PrecisionPolicy::standard, ReferenceVariant::deterministic, at::kCUDA), 4 * standard);
  EXPECT_EQ(run_task(task, leaves, {.device = at::kCUDA})[0].strides().vec(), task.graph.values[2].meta.strides);
}

TEST_F(ExecutorOnGpu, TrainModeBatchNormUpdatesStates) {
  const Task task =
      make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4, 3, 5, 5], "draw": {"kind": "normal"}}],
      "state": [{"name": "m", "dtype": "f32", "shape": [3], "draw": {"kind": "constant", "value": 0}},
                {"name": "v", "dtype": "f32", "shape": [3], "draw": {"kind": "constant", "value": 1}}])",
                R"({"name": "n", "op": "aten::batch_norm",
      "args": ["x", null, null, "m", "v", true, 0.1, 1e-5, true], "writes_state": ["m", "v"]})",
                R"("n")");
  const TensorTable leaves = draw_leaves(task);
  const ExecutionResult cpu = Executor(task.graph, {}).run(leaves);
  const ExecutionResult gpu = Executor(task.graph, {.device = at::kCUDA}).run(leaves);
  EXPECT_LT(largest_difference(cpu.outputs[0], gpu.outputs[0]), 1e-5);
  EXPECT_LT(largest_difference(cpu.states[0], gpu.states[0]), 1e-6);
  EXPECT_LT(largest_difference(cpu.states[1], gpu.states[1]), 1e-6);
}

}  // namespace
}  // namespace cudal1
