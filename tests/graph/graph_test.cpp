#include <gtest/gtest.h>

#include <cmath>

#include "task_text.hpp"

namespace cudal1 {
namespace {

using testing::make_task;
using testing::one_input;
using testing::task_text;
using testing::TestFolder;

TEST(TensorMeta, SpanOfStridedTensorEndsAtItsLastElement) {
  const TensorMeta padded{DType::f16, {2, 3}, {8, 1}};
  EXPECT_EQ(padded.numel(), 6);
  EXPECT_EQ(padded.span_bytes(), (8 + 2 + 1) * 2);
  EXPECT_FALSE(padded.is_contiguous());
}

TEST(TensorMeta, EmptyTensorNeedsNoBytes) {
  const TensorMeta empty{DType::f32, {4, 0}, {1, 1}};
  EXPECT_EQ(empty.span_bytes(), 0);
  EXPECT_TRUE(empty.is_contiguous());
}

TEST(TensorMeta, StridesOfDimensionsOfOneDoNotMatterForContiguity) {
  EXPECT_TRUE((TensorMeta{DType::f32, {4, 1, 3}, {3, 77, 1}}).is_contiguous());
}

TEST(TensorMeta, PrintsDtypeShapeAndUnusualStrides) {
  EXPECT_EQ(to_string(TensorMeta{DType::f32, {4096, 1024}, {1024, 1}}), "f32[4096, 1024]");
  EXPECT_EQ(to_string(TensorMeta{DType::bf16, {4, 2}, {1, 4}}), "bf16[4, 2] with strides [1, 4]");
}

TEST(DTypes, NamesRoundTrip) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32,
                            DType::i64, DType::u8, DType::boolean})
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  EXPECT_EQ(dtype_from_string("float32"), std::nullopt);
}

TEST(ParseTask, ReadsEveryKindOfArgument) {
  const Task task = make_task(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::whatever", "args": [
      "x", null, true, 3, 1.0, {"float": "-inf"}, {"string": "tanh"}, {"dtype": "f16", "compute": true}, [1, 2],
      [1, 2.5, {"float": "inf"}], [true, false], ["x", null], []], "kwargs": {"eps": 1e-5}})",
                              R"("n")");
  const std::vector<Argument>& args = task.graph.nodes[0].args;
  EXPECT_EQ(std::get<ValueRef>(args[0]).id, task.graph.find_value("x"));
  EXPECT_TRUE(std::holds_alternative<NoArgument>(args[1]));
  EXPECT_EQ(std::get<bool>(args[2]), true);
  EXPECT_EQ(std::get<std::int64_t>(args[3]), 3);
  EXPECT_EQ(std::get<double>(args[4]), 1.0);
  EXPECT_EQ(std::get<double>(args[5]), -INFINITY);
  EXPECT_EQ(std::get<std::string>(args[6]), "tanh");
  EXPECT_EQ(std::get<DTypeArgument>(args[7]), (DTypeArgument{DType::f16, true}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(args[8]), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(std::get<std::vector<double>>(args[9]), (std::vector<double>{1, 2.5, INFINITY}));
  EXPECT_EQ(std::get<std::vector<bool>>(args[10]), (std::vector<bool>{true, false}));
  EXPECT_EQ(std::get<ValueList>(args[11]), (ValueList{ValueRef{0}, ValueRef{-1}}));
  EXPECT_TRUE(std::get<std::vector<std::int64_t>>(args[12]).empty());
  EXPECT_EQ(task.graph.nodes[0].kwargs[0].first, "eps");
}

TEST(ParseTask, ReadsLeavesWithDrawsStridesAndExclusions) {
  const Task task = make_task(R"("inputs": [
      {"name": "x", "dtype": "f32", "shape": [2, 3], "strides": [1, 2], "draw": {"kind": "uniform", "low": -1, "high": 2},
       "exclude": ["negative", "denormal"]},
      {"name": "index", "dtype": "i64", "shape": [], "draw": {"kind": "integers", "low": 0, "high": 3}}],
    "weights": [{"name": "0.weight", "dtype": "bf16", "shape": [3], "draw": {"kind": "constant", "value": 2}}],
    "state": [{"name": "mean", "dtype": "f32", "shape": [3], "draw": {"kind": "bernoulli", "p": 0.5}}])",
                              R"({"name": "n", "op": "aten::add.Tensor", "args": ["x", "0.weight"]})", R"("n")");
  EXPECT_EQ(task.graph.values[0].meta.strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(task.leaves[0].draw.kind, Draw::Kind::uniform);
  EXPECT_EQ(task.leaves[0].draw.a, -1);
  EXPECT_EQ(task.leaves[0].draw.b, 2);
  EXPECT_EQ(task.leaves[0].excluded_distributions, (std::vector<std::string>{"negative", "denormal"}));
  EXPECT_EQ(task.leaves[1].draw.kind, Draw::Kind::integers);
  EXPECT_EQ(task.graph.values[task.graph.weights.at(0)].name, "0.weight");
  EXPECT_EQ(task.graph.values[task.graph.states.at(0)].kind, ValueKind::state);
}

TEST(ParseTask, OutputsThatSomebodyReadsExistWithoutBeingDeclared) {
  const Task task = make_task(one_input("f32", "[2, 3]"), R"({"name": "max_1", "op": "aten::max.dim", "args": ["x", 1]},
      {"name": "add_1", "op": "aten::add.Tensor", "args": ["max_1[0]", "max_1[1]"]})",
                              R"("add_1", "max_1[1]")");
  const OpGraph& graph = task.graph;
  EXPECT_EQ(graph.nodes[0].outputs.size(), 2u);
  EXPECT_EQ(graph.find_value("max_1[0]"), graph.find_value("max_1"));
  EXPECT_NE(graph.find_value("max_1[1]"), -1);
  EXPECT_EQ(graph.find_value("max_1[2]"), -1);
  EXPECT_EQ(graph.reads(graph.nodes[1]), graph.nodes[0].outputs);
  EXPECT_EQ(graph.outputs, (std::vector<ValueId>{graph.find_value("add_1"), graph.find_value("max_1[1]")}));
}

TEST(ParseTask, ReadsInListsCountAndNoneDoesNot) {
  const Task task = make_task(one_input("f32", "[2]"), R"({"name": "n", "op": "aten::index.Tensor",
      "args": ["x", ["x", null]], "kwargs": {"other": "x"}})",
                              R"("n")");
  EXPECT_EQ(task.graph.reads(task.graph.nodes[0]), (std::vector<ValueId>{0, 0, 0}));
}

TEST(TaskHash, IgnoresKeyOrderWhiteSpaceAndDescription) {
  const std::string_view plain = R"({"format": "cudal1.graph", "version": 1, "name": "t",
    "inputs": [{"name": "x", "dtype": "f32", "shape": [2], "draw": {"kind": "normal"}}],
    "nodes": [{"name": "n", "op": "aten::relu", "args": ["x"]}], "outputs": ["n"]})";
  const std::string_view shuffled = R"({"outputs":["n"],"description":"words","name":"t","version":1,
    "nodes":[{"args":["x"],"op":"aten::relu","name":"n"}],"format":"cudal1.graph",
    "inputs":[{"draw":{"kind":"normal"},"shape":[2],"dtype":"f32","name":"x"}]})";
  EXPECT_EQ(parse_task(plain, {}).hash, parse_task(shuffled, {}).hash);
  EXPECT_EQ(parse_task(plain, {}).hash.size(), 64u);
}

TEST(TaskHash, ChangesWithTheGraphAndWithTheWeightsFile) {
  const TestFolder folder;
  const std::string leaves = R"("weights_file": "w.safetensors", "inputs": [], "weights": [
      {"name": "w", "dtype": "u8", "shape": [2], "key": "w"}])";
  const std::string text = task_text(leaves, R"({"name": "n", "op": "aten::neg", "args": ["w"]})", R"("n")");
  const std::string header = R"({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})";
  folder.write("w.safetensors", testing::safetensors_bytes(header, "ab"));
  folder.write("graph.json", text);
  const std::string first = load_task(folder.path()).hash;
  folder.write("w.safetensors", testing::safetensors_bytes(header, "ac"));
  EXPECT_NE(load_task(folder.path() / "graph.json").hash, first);
  folder.write("w.safetensors", testing::safetensors_bytes(header, "ab"));
  EXPECT_EQ(load_task(folder.path()).hash, first);
  folder.write("graph.json", task_text(leaves, R"({"name": "n", "op": "aten::abs", "args": ["w"]})", R"("n")"));
  EXPECT_NE(load_task(folder.path()).hash, first);
}

}  // namespace
}  // namespace cudal1
