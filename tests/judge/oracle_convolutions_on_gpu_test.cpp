// The oracle's own convolutions through the CUDA driver, against ATen's; and how fast they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "convolution_cases.hpp"
#include "graph/inputs.hpp"
#include "judge/match.hpp"
#include "judge/oracle_convolutions.hpp"
#include "walks_on_gpu.hpp"

namespace cudal1 {
namespace {

using testing::by_operator, testing::convolution_cases, testing::ConvolutionCase, testing::drawn, testing::expect_close;

class ConvolutionWalkOnGpu : public testing::WalksOnGpu {};

Convolution on_gpu(Convolution convolution) {
  for (at::Tensor* tensor : {&convolution.input, &convolution.weight, &convolution.bias})
    if (tensor->defined()) *tensor = tensor->to(at::Device(at::kCUDA, 0));
  return convolution;
}

TEST_F(ConvolutionWalkOnGpu, ComputesWhatTheProcessorDoes) {
  for (const ConvolutionCase& shape : convolution_cases()) {
    const Convolution convolution = drawn(shape);
    expect_close(convolved(*walk_device_of(0), on_gpu(convolution)), by_operator(convolution), shape.name);
  }
}

TEST_F(ConvolutionWalkOnGpu, ComputesLargeOnesToo) {
  const std::vector<ConvolutionCase> shapes = {
      {.name = "2d", .input = {4, 48, 61, 67}, .weight = {88, 48, 3, 3}, .padding = {1, 1}},
      {.name = "3d transposed",
       .input = {2, 24, 15, 17, 19},
       .weight = {24, 20, 3, 3, 3},
       .stride = {2, 2, 2},
       .padding = {1, 1, 1},
       .output_padding = {1, 1, 1},
       .groups = 4,
       .transposed = true},
      {.name = "2d, depthwise", .input = {4, 96, 61, 67}, .weight = {96, 1, 7, 7}, .padding = {3, 3}, .groups = 96}};
  for (const ConvolutionCase& shape : shapes) {
    const Convolution convolution = drawn(shape);
    expect_close(convolved(*walk_device_of(0), on_gpu(convolution)), by_operator(convolution), shape.name);
  }
}

TEST_F(ConvolutionWalkOnGpu, IsWhatTheOracleUses) {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [2, 4, 9, 8], "draw": {"kind": "normal"}}], "weights": [
      {"name": "w", "dtype": "f32", "shape": [6, 2, 3, 3], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "c", "op": "aten::conv2d", "args": ["x", "w", null, 2, [1, 1], 1, 2]}], "outputs": ["c"]})",
                         {});
  infer_metas(task);
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 1, at::kCPU, leaves);
  draw_weights(task, 2, false, at::kCPU, leaves);
  const at::Tensor wanted = MatchRule(task, at::kCPU, PrecisionPolicy::standard).oracle(leaves).at(0);
  EXPECT_EQ(launches(), 0u);
  const MatchRule rule(task, at::Device(at::kCUDA, 0), PrecisionPolicy::standard);
  for (std::uint64_t run = 1; run <= 2; ++run) {  // the first is compared with the operator
    expect_close(rule.oracle(leaves).at(0), wanted, "oracle");
    EXPECT_EQ(launches(), run);
  }
}

//! Multiplications and additions, had the kernel no padding to leave out.
double operations_of(const Convolution& of) {
  const at::Tensor& of_each = of.transposed ? of.input : convolved(*walk_device_of(0), of);
  const std::int64_t with = of.transposed ? of.outputs_of_a_group() : of.inputs_of_a_group();
  return 2.0 * static_cast<double>(of_each.numel()) * static_cast<double>(with * of.taps());
}

Task task_of(const ConvolutionCase& shape) {
  const std::string dimensions = fmt::format("{}d", shape.input.size() - 2);
  const auto list = [&](const std::vector<std::int64_t>& given, int otherwise) {
    return nlohmann::json(given.empty() ? std::vector<std::int64_t>(shape.input.size() - 2, otherwise) : given);
  };
  nlohmann::json args{"x", "w", nullptr, list(shape.stride, 1), list(shape.padding, 0)};
  if (shape.transposed)
    args.insert(args.end(), {list(shape.output_padding, 0), shape.groups, list(shape.dilation, 1)});
  else
    args.insert(args.end(), {list(shape.dilation, 1), shape.groups});
  const auto leaf = [](const char* name, const std::vector<std::int64_t>& sizes) {
    return nlohmann::json{{"name", name}, {"dtype", "f32"}, {"shape", sizes}, {"draw", {{"kind", "normal"}}}};
  };
  const std::string op =
      shape.transposed ? "aten::conv_transpose" + dimensions + (dimensions == "1d" ? "" : ".input") : "aten::conv" + dimensions;
  const nlohmann::json graph{{"format", "cudal1.graph"},
                             {"version", 1},
                             {"name", "t"},
                             {"inputs", {leaf("x", shape.input)}},
                             {"weights", {leaf("w", shape.weight)}},
                             {"nodes", {{{"name", "c"}, {"op", op}, {"args", args}}}},
                             {"outputs", {"c"}}};
  Task task = parse_task(graph.dump(), {});
  infer_metas(task);
  return task;
}

double milliseconds_of_oracle(const ConvolutionCase& shape, int runs) {
  const Task task = task_of(shape);
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 1, at::Device(at::kCUDA, 0), leaves);
  draw_weights(task, 2, false, at::Device(at::kCUDA, 0), leaves);
  const Executor executor(task.graph, {.device = at::Device(at::kCUDA, 0),
                                       .fp64 = true,
                                       .substitute = OracleConvolutions::substitute_for(task.graph)});
  for (int checked_and_chosen = 0; checked_and_chosen < 2; ++checked_and_chosen) executor.run(leaves);
  return testing::milliseconds_of(runs, [&] { executor.run(leaves); });
}

// PyTorch has kernels of its own for depthwise ones and is faster with many channels; which way is taken is seen once.
TEST_F(ConvolutionWalkOnGpu, TheOracleTakesTheFasterWayOrLosesLittle) {
  constexpr double little_ms = 1.0;
  constexpr int runs = 3;
  const std::vector<ConvolutionCase> shapes = {
      {.name = "2d 3x3", .input = {32, 128, 56, 56}, .weight = {128, 128, 3, 3}, .padding = {1, 1}},
      {.name = "2d 1x1", .input = {32, 256, 56, 56}, .weight = {256, 256, 1, 1}},
      {.name = "2d 7x7, strided", .input = {32, 3, 224, 224}, .weight = {64, 3, 7, 7}, .stride = {2, 2}},
      {.name = "2d depthwise", .input = {32, 128, 112, 112}, .weight = {128, 1, 3, 3}, .groups = 128},
      {.name = "3d 3x3x3", .input = {8, 32, 32, 64, 64}, .weight = {64, 32, 3, 3, 3}},
      {.name = "2d transposed",
       .input = {16, 128, 64, 64},
       .weight = {128, 64, 4, 4},
       .stride = {2, 2},
       .padding = {1, 1},
       .transposed = true},
      {.name = "3d transposed, grouped",
       .input = {8, 32, 16, 32, 32},
       .weight = {32, 8, 3, 3, 3},
       .stride = {2, 2, 2},
       .groups = 4,
       .transposed = true}};
  for (const ConvolutionCase& shape : shapes) {
    const Convolution convolution = on_gpu(drawn(shape));
    const double walked = testing::milliseconds_of(runs, [&] { convolved(*walk_device_of(0), convolution); });
    const double by_operators = testing::milliseconds_of(runs, [&] { by_operator(convolution); });
    const double chosen = milliseconds_of_oracle(shape, runs);
    std::printf("           %-24s %8.2f ms (%5.1f TFLOP/s), by operators %8.2f ms, by the oracle %8.2f ms\n",
                shape.name.c_str(), walked, operations_of(convolution) / walked / 1e9, by_operators, chosen);
    EXPECT_LT(chosen, 1.2 * std::min(walked, by_operators) + little_ms) << shape.name;
  }
}

}  // namespace
}  // namespace cudal1
