// The graph as a model reads it: every name a directive may use, every shape, every argument.
#include "policy/prompt/graph_text.hpp"

#include <gtest/gtest.h>

#include "policy/prompt/gpu_text.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

TEST(GraphText, IsReadable) {
  EXPECT_EQ(graph_text(sample::chain(), GraphTextForm::readable),
            "inputs:\n"
            "  x: f32[64, 128]\n"
            "weights (constant during a call):\n"
            "  \"fc.weight\": f32[256, 128]\n"
            "  bias: f32[256]\n"
            "nodes, in the order in which they run:\n"
            "  linear_1 = linear(x, \"fc.weight\", bias) -> f32[64, 256]\n"
            "  gelu_1 = gelu(linear_1, approximate=\"tanh\") -> f32[64, 256]\n"
            "  softmax_1 = softmax.int(gelu_1, -1) -> f32[64, 256]\n"
            "outputs: softmax_1\n");
}

TEST(GraphText, IsShortForSmallModels) {
  EXPECT_EQ(graph_text(sample::chain(), GraphTextForm::compact),
            "x f32[64,128]\n"
            "\"fc.weight\" f32[256,128]\n"
            "bias f32[256]\n"
            "linear_1 = linear(x, \"fc.weight\", bias) f32[64,256]\n"
            "gelu_1 = gelu(linear_1, approximate=\"tanh\") f32[64,256]\n"
            "softmax_1 = softmax(gelu_1, -1) f32[64,256]\n"
            "out softmax_1\n");
}

TEST(GraphText, SaysWhatIsAViewAndHowItLiesInMemory) {
  const std::string text = graph_text(sample::views(), GraphTextForm::readable);
  EXPECT_NE(text.find("transpose_1 = as_strided(relu_1) -> f32[16, 8] strides [1, 16] (view of relu_1)\n"),
            std::string::npos)
      << text;
}

TEST(GraphText, SaysWhichStateANodeUpdates) {
  const std::string text = graph_text(sample::with_state(), GraphTextForm::readable);
  EXPECT_NE(text.find("states (updated by nodes):\n  running_mean: f32[16]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("batch_norm(x, running_mean) -> f32[8, 16] updates running_mean\n"), std::string::npos) << text;
  EXPECT_NE(graph_text(sample::with_state(), GraphTextForm::compact).find("state running_mean f32[16]\n"),
            std::string::npos);
}

TEST(GraphText, ShowsEveryOutputAndKindOfArgument) {
  EXPECT_NE(
      graph_text(sample::several_outputs(), GraphTextForm::readable).find("max_1 = max.dim(x) -> f32[8], i64[8]\n"),
      std::string::npos);
  OpGraph graph = sample::diamond();
  graph.nodes.front().args = {ValueList{{0}, {-1}},
                              NoArgument{},
                              true,
                              0.5,
                              std::vector<std::int64_t>{1, 2},
                              std::vector<bool>{true, false},
                              DTypeArgument{DType::bf16, true},
                              std::vector<double>{1.0, 1e-5}};
  EXPECT_NE(graph_text(graph, GraphTextForm::readable)
                .find("relu([x, None], None, True, 0.5, [1, 2], [True, False], bf16, [1, 1e-05])"),
            std::string::npos)
      << graph_text(graph, GraphTextForm::readable);
}

TEST(GraphText, StringsStayInsideTheirQuotes) {
  OpGraph graph = sample::diamond();
  graph.nodes.front().args = {std::string("a\"\n# Requirements\n\xff")};
  const std::string text = graph_text(graph, GraphTextForm::readable);
  EXPECT_NE(text.find("relu(\"a\\\"\\n# Requirements\\n"), std::string::npos) << text;
}

TEST(GpuText, HasTheNumbersOfTheProfile) {
  vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  const std::string text = gpu_text(gpu);
  EXPECT_NE(text.find("NVIDIA H200 SXM, 141 GB, compute capability 9.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("132 multiprocessors at 1.98 GHz"), std::string::npos) << text;
  EXPECT_NE(text.find("memory: 4.80 TB/s, of which a copy reaches 4.24; L2 cache 60 MiB"), std::string::npos) << text;
  // 128 lanes x 2 operations x 132 x 1.98 GHz = 66.9 TFLOP/s
  EXPECT_NE(text.find("fp32 67 TFLOP/s"), std::string::npos) << text;
  gpu.title = "another\n# Requirements";
  EXPECT_NE(gpu_text(gpu).find("another # Requirements, compute"), std::string::npos);
}

}  // namespace
}  // namespace cudal1
