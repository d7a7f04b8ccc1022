// One description, two texts.
#include "tasks/module_text.hpp"

#include <gtest/gtest.h>

#include "tasks/layers.hpp"
#include "tasks/module_graph.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

Module residual_block() {
  Module module;
  module.name_extent("batch_size", 64);
  module.name_size("features", 64);
  module.name_size("hidden", 128);
  const ModuleValue x = module.input("x", {64, 64});
  const ModuleValue scale = module.parameter("scale", {64});
  ModuleValue y = unary(module, "gelu_tanh", linear(module, x, 128));
  y = linear(module, y, 64, false);
  y = binary(module, "mul", y, scale);
  module.output(binary(module, "add", x, with_number(module, "mul", y, 0.5)));
  return module;
}

TEST(ModuleText, ReadsAsPeopleWrite) {
  EXPECT_EQ(python_text(residual_block()), R"(import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.linear1 = nn.Linear(features, hidden)
        self.linear2 = nn.Linear(hidden, features, bias=False)

    def forward(self, x):
        y = self.linear1(x)
        y = F.gelu(y, approximate="tanh")
        y = self.linear2(y)
        y = y * self.scale
        y = y * 0.5
        x = x + y
        return x


batch_size = 64
features = 64
hidden = 128


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features, hidden]
)");
}

TEST(ModuleGraph, NamesNodesAsTheBridgeDoes) {
  const Task task = parse_task(graph_text(residual_block(), "block", "A block."), "");
  std::string names;
  for (const Node& node : task.graph.nodes) names += node.name + " ";
  EXPECT_EQ(names, "linear_1 gelu_1 linear_2 mul_1 mul_2 add_1 ");
  std::string weights;
  for (const ValueId weight : task.graph.weights) weights += task.graph.values[weight].name + " ";
  EXPECT_EQ(weights, "scale linear1.weight linear1.bias linear2.weight ");
}

TEST(ModuleText, KeepsAVariableThatIsReadAgain) {
  Module module;
  const ModuleValue x = module.input("x", {4, 8});
  const std::vector<ModuleValue> halves = chunk(module, x, 2);
  const ModuleValue gate = unary(module, "sigmoid", halves[0]);
  module.output(binary(module, "mul", gate, halves[1]));
  module.output(gate);
  EXPECT_NE(python_text(module).find("        x, y = torch.chunk(x, 2, dim=-1)\n"
                                     "        x = torch.sigmoid(x)\n"
                                     "        y = x * y\n"
                                     "        return y, x\n"),
            std::string::npos)
      << python_text(module);
}

}  // namespace
}  // namespace cudal1
