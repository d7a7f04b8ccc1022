#include "sample_graphs.hpp"

namespace cudal1::sample {

TensorMeta dense(std::vector<std::int64_t> sizes, DType dtype) {
  std::vector<std::int64_t> strides = contiguous_strides(sizes);
  return {dtype, std::move(sizes), std::move(strides)};
}

ValueId GraphBuilder::leaf(ValueKind kind, const std::string& name, std::vector<std::int64_t> sizes, DType dtype) {
  const ValueId id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({name, kind, dense(std::move(sizes), dtype), -1, 0, false, {}});
  auto& list = kind == ValueKind::input ? graph.inputs : kind == ValueKind::weight ? graph.weights : graph.states;
  list.push_back(id);
  return id;
}

std::vector<ValueId> GraphBuilder::node_with_outputs(const std::string& name, const std::string& op,
                                                     const std::vector<ValueId>& reads,
                                                     const std::vector<TensorMeta>& outputs) {
  Node node{name, op, {}, {}, {}, {}};
  for (const ValueId read : reads) node.args.emplace_back(ValueRef{read});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    const std::string value_name = i == 0 ? name : name + "[" + std::to_string(i) + "]";
    graph.values.push_back({value_name,
                            ValueKind::node_output,
                            outputs[i],
                            static_cast<int>(graph.nodes.size()),
                            static_cast<int>(i),
                            false,
                            {}});
  }
  graph.nodes.push_back(node);
  return node.outputs;
}

ValueId GraphBuilder::node(const std::string& name, const std::string& op, const std::vector<ValueId>& reads,
                           std::vector<std::int64_t> sizes, DType dtype) {
  return node_with_outputs(name, op, reads, {dense(std::move(sizes), dtype)}).front();
}

ValueId GraphBuilder::view(const std::string& name, ValueId base, TensorMeta meta, std::int64_t offset_elements) {
  const ValueId id = node_with_outputs(name, "aten::as_strided", {base}, {std::move(meta)}).front();
  graph.values[id].view = ViewOf{base, offset_elements};
  return id;
}

OpGraph chain() {
  GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {64, 128});
  const ValueId weight = builder.leaf(ValueKind::weight, "fc.weight", {256, 128});
  const ValueId bias = builder.leaf(ValueKind::weight, "bias", {256});
  const ValueId linear = builder.node("linear_1", "aten::linear", {x, weight, bias}, {64, 256});
  const ValueId gelu = builder.node("gelu_1", "aten::gelu", {linear}, {64, 256});
  builder.graph.nodes.back().kwargs.emplace_back("approximate", std::string("tanh"));
  const ValueId softmax = builder.node("softmax_1", "aten::softmax.int", {gelu}, {64, 256});
  builder.graph.nodes.back().args.emplace_back(std::int64_t{-1});
  builder.output(softmax);
  return builder.graph;
}

OpGraph diamond() {
  GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {32});
  const ValueId relu = builder.node("relu_1", "aten::relu", {x}, {32});
  const ValueId sigmoid = builder.node("sigmoid_1", "aten::sigmoid", {relu}, {32});
  builder.output(builder.node("add_1", "aten::add.Tensor", {relu, sigmoid}, {32}));
  return builder.graph;
}

OpGraph two_chains() {
  GraphBuilder builder;
  const ValueId a = builder.leaf(ValueKind::input, "a", {32});
  const ValueId b = builder.leaf(ValueKind::input, "b", {32});
  const ValueId relu_1 = builder.node("relu_1", "aten::relu", {a}, {32});
  const ValueId relu_2 = builder.node("relu_2", "aten::relu", {b}, {32});
  builder.output(builder.node("tanh_1", "aten::tanh", {relu_1}, {32}));
  builder.output(builder.node("tanh_2", "aten::tanh", {relu_2}, {32}));
  return builder.graph;
}

OpGraph views() {
  GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8, 16});
  const ValueId relu = builder.node("relu_1", "aten::relu", {x}, {8, 16});
  const ValueId transpose = builder.view("transpose_1", relu, {DType::f32, {16, 8}, {1, 16}}, 0);
  const ValueId select = builder.view("select_1", relu, {DType::f32, {16}, {1}}, 48);
  builder.output(builder.node("exp_1", "aten::exp", {transpose}, {16, 8}));
  builder.output(builder.node("neg_1", "aten::neg", {select}, {16}));
  builder.output(builder.view("flat_1", x, dense({128}), 0));
  return builder.graph;
}

OpGraph with_state() {
  GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8, 16});
  const ValueId mean = builder.leaf(ValueKind::state, "running_mean", {16});
  const ValueId norm = builder.node("batch_norm_1", "aten::batch_norm", {x, mean}, {8, 16});
  builder.graph.nodes.back().writes_state = {mean};
  builder.output(norm);
  builder.output(builder.node("mul_1", "aten::mul.Tensor", {mean, mean}, {16}));
  return builder.graph;
}

OpGraph several_outputs() {
  GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8, 16});
  const ValueId h = builder.leaf(ValueKind::input, "h", {8}, DType::f16);
  const auto max = builder.node_with_outputs("max_1", "aten::max.dim", {x}, {dense({8}), dense({8}, DType::i64)});
  builder.output(max[0]);
  builder.output(max[1]);
  builder.output(builder.node("cast_1", "aten::to.dtype", {h}, {8}, DType::bf16));
  builder.graph.nodes.back().args.emplace_back(DTypeArgument{DType::bf16, true});
  return builder.graph;
}

}  // namespace cudal1::sample
