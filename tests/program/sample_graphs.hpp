// Small tasks, built by hand, that the tests of this folder plan programs for.
#pragma once

#include "graph/op_graph.hpp"

namespace cudal1::sample {

class GraphBuilder {
 public:
  ValueId leaf(ValueKind kind, const std::string& name, std::vector<std::int64_t> sizes, DType dtype = DType::f32);
  //! Reads `reads` as positional arguments; outputs are "name", "name[1]", …
  std::vector<ValueId> node_with_outputs(const std::string& name, const std::string& op,
                                         const std::vector<ValueId>& reads, const std::vector<TensorMeta>& outputs);
  ValueId node(const std::string& name, const std::string& op, const std::vector<ValueId>& reads,
               std::vector<std::int64_t> sizes, DType dtype = DType::f32);
  ValueId view(const std::string& name, ValueId base, TensorMeta meta, std::int64_t offset_elements);
  void output(ValueId value) { graph.outputs.push_back(value); }

  OpGraph graph;
};

TensorMeta dense(std::vector<std::int64_t> sizes, DType dtype = DType::f32);

//! x[64, 128] -> linear_1 (weight "fc.weight", bias "bias") -> gelu_1 -> softmax_1[64, 256], the output.
OpGraph chain();

//! x -> relu_1 -> sigmoid_1; add_1 = relu_1 + sigmoid_1, the output.
OpGraph diamond();

//! a -> relu_1 -> tanh_1 and b -> relu_2 -> tanh_2 side by side; both ends are outputs.
OpGraph two_chains();

//! x[8, 16] -> relu_1 -> transpose_1 (view) and select_1 (view: row 3) -> exp_1 (of transpose_1), neg_1 (of select_1).
//! The outputs are exp_1, neg_1 and flat_1, a view of x.
OpGraph views();

//! batch_norm_1 updates the state "running_mean" in place; mul_1 reads that state afterwards.
OpGraph with_state();

//! max_1 and max_1[1] (i64), the outputs; h (f16) -> cast_1 (bf16), an output as well.
OpGraph several_outputs();

}  // namespace cudal1::sample
