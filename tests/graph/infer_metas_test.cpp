#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::draw_leaves;
using testing::make_task;
using testing::message_of;
using testing::one_input;
using testing::run_task;

Task inferred(std::string_view leaves, std::string_view nodes, std::string_view outputs) {
  Task task = make_task(leaves, nodes, outputs);
  infer_metas(task);
  return task;
}

const Value& value(const Task& task, std::string_view name) {
  return task.graph.values.at(task.graph.find_value(name));
}

std::string refusal(std::string_view leaves, std::string_view nodes) {
  Task task = make_task(leaves, nodes, R"("n")");
  return message_of([&] { infer_metas(task); });
}

//! What the metas say is what really comes out.
void expect_metas_of_a_run(const Task& task) {
  const auto outputs = run_task(task, draw_leaves(task));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorMeta& meta = task.graph.values[task.graph.outputs[i]].meta;
    EXPECT_EQ(outputs[i].sizes().vec(), meta.sizes);
    EXPECT_EQ(outputs[i].strides().vec(), meta.strides);
  }
}

TEST(InferMetas, FillsSizesStridesAndDtypes) {
  const Task task = inferred(one_input("f16", "[4, 6]"), R"(
      {"name": "sum_1", "op": "aten::sum.dim_IntList", "args": ["x", [1], true], "kwargs": {"dtype": {"dtype": "f32"}}},
      {"name": "gt_1", "op": "aten::gt.Scalar", "args": ["x", 0]})",
                             R"("sum_1", "gt_1")");
  EXPECT_EQ(value(task, "sum_1").meta, (TensorMeta{DType::f32, {4, 1}, {1, 1}}));
  EXPECT_EQ(value(task, "gt_1").meta, (TensorMeta{DType::boolean, {4, 6}, {6, 1}}));
  EXPECT_FALSE(value(task, "sum_1").view);
}

TEST(InferMetas, SaysWhatIsTooLargeToBeTried) {
  EXPECT_EQ(refusal(one_input("f32", "[2000000000]"), R"({"name": "n", "op": "aten::relu", "args": ["x"]})"),
            "node n (aten::relu): its output shape cannot be derived without running it, and its 8000 MB of arguments "
            "are too large for that");
  EXPECT_EQ(refusal(one_input("f32", "[2000000000]"), R"({"name": "n", "op": "aten::relu", "args": ["x"],
      "outputs": [{"dtype": "f32", "shape": [2000000000], "strides": [1]}]})"),
            "");
  const std::string wrong =
      refusal(one_input("f32", "[2, 1000000000]"), R"({"name": "n", "op": "aten::mm", "args": ["x", "x"]})");
  EXPECT_NE(wrong.find("cannot be multiplied"), std::string::npos) << wrong;
}

TEST(InferMetas, AddsOutputsThatNobodyNamed) {
  const Task task = inferred(one_input("f32", "[4, 6]"),
                             R"({"name": "max_1", "op": "aten::max.dim", "args": ["x", 1]})", R"("max_1")");
  EXPECT_EQ(task.graph.nodes[0].outputs.size(), 2u);
  EXPECT_EQ(value(task, "max_1[1]").meta, (TensorMeta{DType::i64, {4}, {1}}));
  EXPECT_EQ(value(task, "max_1[1]").output, 1);
}

TEST(InferMetas, ViewsResolveToTheirBaseWithTheTotalOffset) {
  const Task task = inferred(one_input("f32", "[4, 6]"), R"(
      {"name": "relu_1", "op": "aten::relu", "args": ["x"]},
      {"name": "slice_1", "op": "aten::slice.Tensor", "args": ["relu_1", 0, 1, 4]},
      {"name": "t_1", "op": "aten::t", "args": ["slice_1"]},
      {"name": "select_1", "op": "aten::select.int", "args": ["t_1", 0, 2]},
      {"name": "split_1", "op": "aten::split.Tensor", "args": ["x", 3, 1]})",
                             R"("select_1", "split_1[1]", "t_1")");
  const ValueId relu = task.graph.find_value("relu_1");
  ASSERT_TRUE(value(task, "t_1").view);
  EXPECT_EQ(value(task, "t_1").view->base, relu);
  EXPECT_EQ(value(task, "t_1").view->offset_elements, 6);
  EXPECT_EQ(value(task, "t_1").meta, (TensorMeta{DType::f32, {6, 3}, {1, 6}}));
  EXPECT_EQ(value(task, "select_1").view->base, relu);
  EXPECT_EQ(value(task, "select_1").view->offset_elements, 8);
  EXPECT_EQ(value(task, "split_1[1]").view->base, task.graph.find_value("x"));
  EXPECT_EQ(value(task, "split_1[1]").view->offset_elements, 3);
  expect_metas_of_a_run(task);
}

TEST(InferMetas, IdentitiesAreViewsWithoutOffset) {
  const Task task = inferred(one_input("f32", "[4, 6]"), R"(
      {"name": "contiguous_1", "op": "aten::contiguous", "args": ["x"]},
      {"name": "dropout_1", "op": "aten::dropout", "args": ["contiguous_1", 0.5, false]},
      {"name": "to_1", "op": "aten::to.dtype", "args": ["dropout_1", {"dtype": "f32"}]})",
                             R"("to_1")");
  for (const char* name : {"contiguous_1", "dropout_1", "to_1"}) {
    ASSERT_TRUE(value(task, name).view) << name;
    EXPECT_EQ(value(task, name).view->base, task.graph.find_value("x"));
    EXPECT_EQ(value(task, name).view->offset_elements, 0);
  }
}

TEST(InferMetas, RespectsStridesOfLeaves) {
  const Task task = inferred(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4, 6], "strides": [1, 4],
      "draw": {"kind": "normal"}}])",
                             R"({"name": "relu_1", "op": "aten::relu", "args": ["x"]})", R"("relu_1")");
  EXPECT_EQ(value(task, "relu_1").meta.strides, (std::vector<std::int64_t>{1, 4}));
  expect_metas_of_a_run(task);
}

TEST(InferMetas, KnowsConvolutionsAndBatchNorm) {
  const Task task =
      inferred(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [2, 4, 9, 8], "draw": {"kind": "normal"}},
      {"name": "w", "dtype": "f32", "shape": [6, 2, 3, 2], "draw": {"kind": "normal"}},
      {"name": "v", "dtype": "f32", "shape": [6, 3, 3, 2], "draw": {"kind": "normal"}}],
      "state": [{"name": "m", "dtype": "f32", "shape": [3], "draw": {"kind": "normal"}},
                {"name": "s", "dtype": "f32", "shape": [3], "draw": {"kind": "uniform"}}])",
               R"(
      {"name": "conv2d_1", "op": "aten::conv2d", "args": ["x", "w", null, [2, 1], [1, 0], [1, 2], 2]},
      {"name": "conv_transpose2d_1", "op": "aten::conv_transpose2d.input",
       "args": ["conv2d_1", "v", null, [2, 2], [1, 0], [1, 0]]},
      {"name": "bn_1", "op": "aten::_native_batch_norm_legit", "args": ["conv_transpose2d_1", null, null, "m", "s", true,
       0.1, 1e-5], "writes_state": ["m", "s"]},
      {"name": "bn_2", "op": "aten::batch_norm", "args": ["bn_1", null, null, "m", "s", false, 0.1, 1e-5, true]},
      {"name": "pool_1", "op": "aten::max_pool2d", "args": ["bn_2", [2, 2]]},
      {"name": "pool_2", "op": "aten::adaptive_avg_pool2d", "args": ["pool_1", [1, 1]]})",
               R"("conv2d_1", "conv_transpose2d_1", "bn_1", "bn_1[1]", "bn_2", "pool_1", "pool_2")");
  expect_metas_of_a_run(task);
}

TEST(InferMetas, KnowsNormalisations) {
  const std::string leaves =
      R"("inputs": [{"name": "x", "dtype": "f32", "shape": [2, 6, 5, 4], "draw": {"kind": "normal"}},
      {"name": "w", "dtype": "f32", "shape": [6], "draw": {"kind": "normal"}}])";
  const Task task = inferred(leaves, R"(
      {"name": "layer", "op": "aten::layer_norm", "args": ["x", [5, 4]]},
      {"name": "group", "op": "aten::group_norm", "args": ["x", 3, "w", "w"]},
      {"name": "instance", "op": "aten::instance_norm", "args": ["x", "w", null, null, null, true, 0.1, 1e-5, true]})",
                             R"("layer", "group", "instance")");
  expect_metas_of_a_run(task);
  EXPECT_EQ(refusal(leaves, R"({"name": "n", "op": "aten::layer_norm", "args": ["x", [4, 4]]})"),
            "node n (aten::layer_norm): normalizes the last 2 dimensions, which have other sizes");
  EXPECT_EQ(refusal(leaves, R"({"name": "n", "op": "aten::group_norm", "args": ["x", 4]})"),
            "node n (aten::group_norm): 6 channels cannot be divided into 4 groups");
  EXPECT_EQ(refusal(leaves, R"({"name": "n", "op": "aten::layer_norm", "args": ["x", [5, 4], "w"]})"),
            "node n (aten::layer_norm): weight has 6 elements, not 20");
}

TEST(InferMetas, OperatorsWithoutMetaKernelRunOnZeros) {
  const Task task =
      inferred(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [2, 4, 9], "draw": {"kind": "normal"}},
      {"name": "w", "dtype": "f32", "shape": [6, 4, 3], "draw": {"kind": "normal"}}])",
               R"(
      {"name": "conv1d_1", "op": "aten::conv1d.padding", "args": ["x", "w", null, [1], {"string": "same"}]},
      {"name": "attention_1", "op": "aten::scaled_dot_product_attention", "args": ["x", "x", "x"]},
      {"name": "norm_1", "op": "aten::group_norm", "args": ["x", 2]})",
               R"("conv1d_1", "attention_1", "norm_1")");
  expect_metas_of_a_run(task);
}

TEST(InferMetas, IntegersMayBeDivided) {
  const Task task = inferred(
      R"("inputs": [{"name": "x", "dtype": "i64", "shape": [5, 3], "draw": {"kind": "integers", "low": -9, "high": 9}},
      {"name": "y", "dtype": "i64", "shape": [3], "draw": {"kind": "integers", "low": 1, "high": 5}}])",
      R"({"name": "floor_divide_1", "op": "aten::floor_divide", "args": ["x", "y"]})", R"("floor_divide_1")");
  EXPECT_EQ(task.graph.values[task.graph.outputs.front()].meta.sizes, (std::vector<std::int64_t>{5, 3}));
}

TEST(InferMetas, DeclaredOutputsMustBeTrue) {
  const auto declared = [](std::string_view outputs) {
    return refusal(one_input("f32", "[2, 3]"),
                   R"({"name": "n", "op": "aten::t", "args": ["x"], "outputs": [)" + std::string(outputs) + "]}");
  };
  EXPECT_EQ(declared(R"({"dtype": "f32", "shape": [3, 2], "strides": [1, 3]})"), "");
  EXPECT_EQ(declared(R"({"dtype": "f32", "shape": [3, 2]})"), "");
  EXPECT_EQ(
      declared(R"({"dtype": "f16", "shape": [3, 2]})"),
      "node n (aten::t): output 0 is declared as f16[3, 2], but the operator gives f32[3, 2] with strides [1, 3]");
  EXPECT_EQ(
      declared(R"({"dtype": "f32", "shape": [2, 3]})"),
      "node n (aten::t): output 0 is declared as f32[2, 3], but the operator gives f32[3, 2] with strides [1, 3]");
  EXPECT_EQ(
      declared(R"({"dtype": "f32", "shape": [3, 2], "strides": [2, 1]})"),
      "node n (aten::t): output 0 is declared as f32[3, 2], but the operator gives f32[3, 2] with strides [1, 3]");
  EXPECT_EQ(declared(R"({"dtype": "f32", "shape": [3, 2]}, {"dtype": "f32", "shape": []})"),
            "node n (aten::t): 2 outputs are declared, but the operator returns 1");
}

TEST(InferMetas, OutputsThatDoNotExistAreNamed) {
  Task task = make_task(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::relu", "args": ["x"]})", R"("n[1]")");
  EXPECT_EQ(message_of([&] { infer_metas(task); }),
            "node n (aten::relu): 2 outputs are used, but the operator returns 1");
}

TEST(InferMetas, SizesThatDependOnValuesAreRefused) {
  EXPECT_EQ(
      refusal(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::nonzero", "args": ["x"]})"),
      "node n (aten::nonzero): the sizes of its outputs depend on the values of its inputs; such operators are not "
      "supported");
}

TEST(InferMetas, ShapesThatDoNotFitNameTheNode) {
  const std::string message =
      refusal(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::mm", "args": ["x", "x"]})");
  EXPECT_TRUE(message.starts_with("node n (aten::mm): ")) << message;
  EXPECT_NE(message.find("cannot be multiplied"), std::string::npos) << message;
  EXPECT_EQ(refusal(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [2, 4, 9], "draw": {"kind": "normal"}},
      {"name": "w", "dtype": "f32", "shape": [6, 3, 3], "draw": {"kind": "normal"}}])",
                    R"({"name": "n", "op": "aten::conv1d", "args": ["x", "w"]})"),
            "node n (aten::conv1d): the input has 4 channels, the weight is for 3");
}

TEST(InferMetas, RandomOperatorsAreRefused) {
  EXPECT_EQ(refusal(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::bernoulli", "args": ["x"]})"),
            "node n (aten::bernoulli): its random numbers cannot be drawn again");
}

}  // namespace
}  // namespace cudal1
