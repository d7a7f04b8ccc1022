#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "base/result.hpp"
#include "graph/aten_call.hpp"
#include "graph/executor.hpp"
#include "graph/shape_rules.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

//! What a node without a meta kernel may cost when it has to run for its shapes.
constexpr std::int64_t max_trial_bytes = std::int64_t{2} << 30;

TensorMeta meta_of(const at::Tensor& tensor) {
  return {from_scalar_type(tensor.scalar_type()), tensor.sizes().vec(), tensor.strides().vec()};
}

at::Tensor empty_meta(const TensorMeta& meta) {
  return at::empty_strided(meta.sizes, meta.strides,
                           at::TensorOptions().device(at::kMeta).dtype(to_scalar_type(meta.dtype)));
}

//! A tensor whose shape ATen derived, with its place in its storage.
std::int64_t first_byte(const at::Tensor& tensor) {
  return tensor.storage_offset() * static_cast<std::int64_t>(tensor.element_size());
}

//! Wrong arguments are named by the meta kernel; that there is none, ATen says in a paragraph about compilers.
Error too_large_to_try(const Node& node, std::int64_t bytes, const Error& meta_problem) {
  const std::string_view reason = meta_problem.what();
  const bool has_none = reason.find("with Meta tensors") != std::string_view::npos ||
                        reason.find("from the 'Meta' backend") != std::string_view::npos;
  if (!has_none) return meta_problem;
  return Error(
      fmt::format("node {} ({}): its output shape cannot be derived without running it, and its {} MB of arguments are "
                  "too large for that",
                  node.name, node.op, bytes / 1'000'000));
}

class MetaInference {
 public:
  explicit MetaInference(OpGraph& graph) : graph_(graph), tensors_(graph.values.size()) {}

  void run() {
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      if (graph_.values[id].kind != ValueKind::node_output) place_leaf(static_cast<ValueId>(id));
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) infer_node(static_cast<int>(i));
  }

 private:
  void place_leaf(ValueId id) {
    tensors_[id] = empty_meta(graph_.values[id].meta);
    bases_.emplace(tensors_[id].storage().unsafeGetStorageImpl(), id);
  }

  void infer_node(int index) {
    const std::vector<at::Tensor> outputs = outputs_of(graph_.nodes[index]);
    if (graph_.nodes[index].outputs.empty()) return;  // it works in place on a state
    match_count(index, outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) set_output(graph_.nodes[index], k, outputs[k]);
  }

  std::vector<at::Tensor> outputs_of(const Node& node) {
    const AtenCall call(node, at::kMeta, /*widen=*/false);
    const auto lookup = [&](ValueId id) -> const at::Tensor& { return tensors_[id]; };
    if (auto outputs = outputs_by_rule(node, call, lookup)) return *outputs;
    try {
      return call(lookup);
    } catch (const Error& problem) {
      if (call.sizes_depend_on_values())
        throw Error(
            fmt::format("node {} ({}): the sizes of its outputs depend on the values of its inputs; such "
                        "operators are not supported",
                        node.name, node.op));
      return tried_outputs(node, problem);
    }
  }

  //! Without a meta kernel only a real run tells the shapes; it also tells wrong arguments better. Zeros are indices of
  //! everything, but integers cannot be divided by them.
  std::vector<at::Tensor> tried_outputs(const Node& node, const Error& meta_problem) const {
    std::int64_t bytes = 0;
    for (const ValueId id : graph_.reads(node)) bytes += graph_.values[id].meta.span_bytes();
    if (bytes > max_trial_bytes) return declared_outputs(node, too_large_to_try(node, bytes, meta_problem));
    try {
      return run_on(0, node);
    } catch (const Error& problem_with_zeros) {
      try {
        return run_on(1, node);
      } catch (const Error&) {
        throw Error(problem_with_zeros);
      }
    }
  }

  std::vector<at::Tensor> run_on(int number, const Node& node) const {
    std::unordered_map<ValueId, at::Tensor> arguments;
    for (const ValueId id : graph_.reads(node)) arguments.try_emplace(id, filled_like_value(id, number));
    const AtenCall call(node, at::kCPU, /*widen=*/false);
    std::vector<at::Tensor> outputs;
    for (const at::Tensor& output : call([&](ValueId id) -> const at::Tensor& { return arguments.at(id); }))
      outputs.push_back(empty_meta(meta_of(output)));
    return outputs;
  }

  //! What nobody can check has to be believed.
  std::vector<at::Tensor> declared_outputs(const Node& node, const Error& otherwise) const {
    std::vector<at::Tensor> outputs;
    for (const ValueId id : node.outputs) {
      const Value& value = graph_.values[id];
      if (!value.declared || value.meta.strides.size() != value.meta.sizes.size()) throw Error(otherwise);
      outputs.push_back(empty_meta(value.meta));
    }
    return outputs;
  }

  at::Tensor filled_like_value(ValueId id, int number) const {
    const TensorMeta& meta = graph_.values[id].meta;
    const std::int64_t elements = meta.span_bytes() / size_in_bytes(meta.dtype);
    return at::full({elements}, number, at::TensorOptions().dtype(to_scalar_type(meta.dtype)))
        .as_strided(meta.sizes, meta.strides);
  }

  void match_count(int index, std::size_t returned) {
    Node& node = graph_.nodes[index];
    const bool is_declared = graph_.values[node.outputs.front()].declared;
    if (returned < node.outputs.size() || (is_declared && returned != node.outputs.size()))
      throw Error(fmt::format("node {} ({}): {} outputs {}, but the operator returns {}", node.name, node.op,
                              node.outputs.size(), is_declared ? "are declared" : "are used", returned));
    while (node.outputs.size() < returned) {
      const int output = static_cast<int>(node.outputs.size());
      Value value;
      value.name = fmt::format("{}[{}]", node.name, output);
      value.node = index;
      value.output = output;
      node.outputs.push_back(static_cast<ValueId>(graph_.values.size()));
      graph_.values.push_back(std::move(value));
      tensors_.emplace_back();
    }
  }

  void set_output(const Node& node, std::size_t k, const at::Tensor& tensor) {
    const ValueId id = node.outputs[k];
    Value& value = graph_.values[id];
    const TensorMeta meta = meta_of(tensor);
    TensorMeta declared = value.meta;
    if (declared.strides.size() != declared.sizes.size()) declared.strides = meta.strides;
    const bool differs =
        declared.dtype != meta.dtype || declared.sizes != meta.sizes || declared.strides != meta.strides;
    if (value.declared && differs)
      throw Error(fmt::format("node {} ({}): output {} is declared as {}, but the operator gives {}", node.name,
                              node.op, k, to_string(value.meta), to_string(meta)));
    value.meta = meta;
    tensors_[id] = tensor;
    value.view = view_of(id);
  }

  std::optional<ViewOf> view_of(ValueId id) {
    const at::Tensor& tensor = tensors_[id];
    const auto [entry, is_new] = bases_.emplace(tensor.storage().unsafeGetStorageImpl(), id);
    if (is_new) return std::nullopt;
    const ValueId base = entry->second;
    const std::int64_t offset_bytes = first_byte(tensor) - first_byte(tensors_[base]);
    const std::int64_t element_bytes = size_in_bytes(graph_.values[id].meta.dtype);
    const std::int64_t end = offset_bytes + graph_.values[id].meta.span_bytes();
    // Two results cut from one private storage of the operator: neither lies inside the other, so both stand alone.
    if (offset_bytes < 0 || offset_bytes % element_bytes != 0 || end > graph_.values[base].meta.span_bytes())
      return std::nullopt;
    return ViewOf{base, offset_bytes / element_bytes};
  }

  OpGraph& graph_;
  TensorTable tensors_;  //!< all alive until the end, so that an address of a storage means one storage
  std::unordered_map<const void*, ValueId> bases_;
};

}  // namespace

void infer_metas(Task& task) {
  with_torch_errors(task.name, [&] { MetaInference(task.graph).run(); });
  if (task.input_recipe)
    with_torch_errors(task.name + ": input_graph", [&] { MetaInference(task.input_recipe->graph).run(); });
}

}  // namespace cudal1
