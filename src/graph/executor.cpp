#include "graph/executor.hpp"

#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "base/result.hpp"
#include "graph/aten_call.hpp"
#include "graph/backend_flags.hpp"
#include "graph/gpu_deviation.hpp"
#include "graph/tf32_rounding.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

bool is_narrow_floating(at::ScalarType type) {
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

//! The same values with the same strides, elsewhere or in another dtype.
at::Tensor copied(const at::Tensor& tensor, at::Device device, at::ScalarType dtype) {
  const at::TensorOptions options = at::TensorOptions().device(device).dtype(dtype);
  at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), options);
  copy.copy_(tensor);
  return copy;
}

bool same_device(at::Device have, at::Device want) {
  return have.type() == want.type() && (!want.has_index() || have.index() == want.index());
}

struct Step {
  AtenCall call;
  std::vector<ValueId> outputs;
  std::vector<ValueId> rounded;    //!< operands that a GPU would round to TF32
  std::vector<ValueId> last_uses;  //!< values that no later node reads
  bool without_cudnn = false;
};

std::vector<int> last_readers(const OpGraph& graph) {
  std::vector<int> last(graph.values.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].outputs) last[id] = static_cast<int>(i);  // outputs that nobody reads
    for (const ValueId id : graph.reads(graph.nodes[i])) last[id] = static_cast<int>(i);
  }
  for (const ValueId id : graph.outputs) last[id] = -1;
  for (const ValueId id : graph.states) last[id] = -1;
  return last;
}

}  // namespace

struct Executor::Resolved {
  OpGraph graph;
  ExecutorOptions options;
  std::vector<Step> steps;

  Resolved(const OpGraph& task_graph, const ExecutorOptions& executor_options)
      : graph(task_graph), options(executor_options) {
    for (const Node& node : graph.nodes) {
      AtenCall call = resolve(node);
      std::vector<ValueId> rounded;
      if (stands_for_gpu()) rounded = tf32_operands(node, call, options.precision);
      const bool without_cudnn = is_slow_in_cudnn(node, call);
      steps.push_back({std::move(call), node.outputs, std::move(rounded), {}, without_cudnn});
    }
    const std::vector<int> last = last_readers(graph);
    for (std::size_t id = 0; id < last.size(); ++id)
      if (last[id] >= 0) steps[last[id]].last_uses.push_back(static_cast<ValueId>(id));
  }

  //! What it computes is the reference of programs for a GPU.
  bool stands_for_gpu() const { return options.device.is_cpu() && !options.fp64; }

  //! cuDNN computes these in fp64 up to eleven times more slowly than products of matrices do.
  bool is_slow_in_cudnn(const Node& node, const AtenCall& call) const {
    if (!options.fp64 || !options.device.is_cuda()) return false;
    const auto transposed = call.integers_of("transposed");
    return node.op.starts_with("aten::conv_transpose") || node.op.starts_with("aten::conv3d") ||
           (node.op.starts_with("aten::convolution") && !transposed.empty() && transposed[0] != 0) ||
           (node.op.starts_with("aten::conv2d") && has_wide_windows(node, call));
  }

  //! In two dimensions products are made image by image: they gain where there are few, of many numbers each. An image
  //! is written out for it, window by window, which must not take more than what is there anyway.
  bool has_wide_windows(const Node& node, const AtenCall& call) const {
    constexpr std::int64_t most_images = 32, fewest_taps = 9;
    const auto inputs = call.values_of("input"), weights = call.values_of("weight");
    if (inputs.empty() || weights.empty() || call.integers_of("groups") != std::vector<std::int64_t>{1}) return false;
    const TensorMeta &images = graph.values[inputs[0]].meta, &result = graph.values[node.outputs.at(0)].meta;
    const auto& window = graph.values[weights[0]].meta.sizes;
    if (images.sizes.size() != 4 || window.size() != 4 || result.sizes.size() != 4) return false;
    const std::int64_t taps = window[2] * window[3], columns = window[1] * taps * result.sizes[2] * result.sizes[3];
    return images.sizes[0] <= most_images && taps >= fewest_taps && columns <= std::max(images.numel(), result.numel());
  }

  //! The oracle takes what the reference draws, in the reference's dtype: in fp64 it would be other numbers.
  AtenCall resolve(const Node& node) const {
    AtenCall call(node, options.device, options.fp64);
    return call.draws_random_numbers() ? AtenCall(node, options.device, false) : std::move(call);
  }

  at::ScalarType working_dtype(at::ScalarType dtype) const {
    return options.fp64 && is_narrow_floating(dtype) ? at::kDouble : dtype;
  }

  at::Tensor place_leaf(ValueId id, const TensorTable& leaves) const {
    const Value& value = graph.values[id];
    const at::Tensor leaf = static_cast<std::size_t>(id) < leaves.size() ? leaves[id] : at::Tensor();
    if (!leaf.defined()) throw Error(fmt::format("no tensor is given for \"{}\"", value.name));
    // The oracle also takes leaves that are wide already: perturbed by less than their own dtype can say.
    const bool right_dtype = from_scalar_type(leaf.scalar_type()) == value.meta.dtype ||
                             (options.fp64 && leaf.scalar_type() == at::kDouble && is_floating(value.meta.dtype));
    if (!leaf.sizes().equals(value.meta.sizes) || !right_dtype)
      throw Error(fmt::format("the tensor given for \"{}\" is not {}", value.name, to_string(value.meta)));
    const at::ScalarType dtype = working_dtype(leaf.scalar_type());
    const bool is_ready = same_device(leaf.device(), options.device) && dtype == leaf.scalar_type();
    return is_ready && value.kind != ValueKind::state ? leaf : copied(leaf, options.device, dtype);
  }

  TensorTable place_leaves(const TensorTable& leaves) const {
    TensorTable table(graph.values.size());
    for (const auto* ids : {&graph.inputs, &graph.weights, &graph.states})
      for (const ValueId id : *ids) table[id] = place_leaf(id, leaves);
    return table;
  }

  //! Draws as the reference does, and computes with the draws in fp64.
  std::vector<at::Tensor> draw_for_oracle(const Node& node, const Step& step, const TensorTable& table) const {
    std::unordered_map<ValueId, at::Tensor> narrow;
    for (const ValueId id : graph.reads(node))
      narrow.try_emplace(id, copied(table[id], options.device, to_scalar_type(graph.values[id].meta.dtype)));
    std::vector<at::Tensor> outputs = step.call([&](ValueId id) -> const at::Tensor& { return narrow.at(id); });
    if (node.op != "aten::native_dropout") return outputs;
    const double kept = 1.0 - step.call.number_of("p");
    outputs[0] = table[step.call.values_of("input").at(0)].mul(outputs[1]).mul(kept == 0.0 ? 0.0 : 1.0 / kept);
    return outputs;
  }

  std::vector<at::Tensor> call(const Step& step, const TensorTable& table) const {
    std::unordered_map<ValueId, at::Tensor> rounded;
    for (const ValueId id : step.rounded) rounded.try_emplace(id, rounded_to_tf32(table[id]));
    return step.call([&](ValueId id) -> const at::Tensor& {
      const auto found = rounded.find(id);
      return found == rounded.end() ? table[id] : found->second;
    });
  }

  std::optional<std::vector<at::Tensor>> substituted(const Node& node, const Step& step,
                                                     const TensorTable& table) const {
    if (!options.substitute) return std::nullopt;
    return with_torch_errors(fmt::format("node {} ({})", node.name, node.op),
                             [&] { return options.substitute(node, step.call, table); });
  }

  std::vector<at::Tensor> results_of(const Node& node, const Step& step, const TensorTable& table) const {
    if (step.call.draws_random_numbers()) return options.fp64 ? draw_for_oracle(node, step, table) : call(step, table);
    const CudnnSwitch cudnn(step.without_cudnn);  // a substitute may ask the operator too
    if (auto results = substituted(node, step, table)) return std::move(*results);
    return call(step, table);
  }

  void run_step(std::size_t index, TensorTable& table, const ResultHook& hook) const {
    const Step& step = steps[index];
    std::vector<at::Tensor> outputs = results_of(graph.nodes[index], step, table);
    if (stands_for_gpu()) underflow_as_on_gpu(graph.nodes[index], outputs);
    if (outputs.size() < step.outputs.size())
      throw Error(fmt::format("node {}: {} outputs are used, but the operator returned {}", graph.nodes[index].name,
                              step.outputs.size(), outputs.size()));
    if (hook) hook(graph.nodes[index], table, outputs);
    for (std::size_t k = 0; k < step.outputs.size(); ++k) {
      const at::ScalarType dtype = working_dtype(outputs[k].scalar_type());
      table[step.outputs[k]] = dtype == outputs[k].scalar_type() ? std::move(outputs[k]) : outputs[k].to(dtype);
    }
    for (const ValueId id : step.last_uses) table[id].reset();
  }
};

Executor::Executor(const OpGraph& graph, const ExecutorOptions& options)
    : resolved_(std::make_unique<Resolved>(graph, options)) {}

Executor::~Executor() = default;

ExecutionResult Executor::run(const TensorTable& leaves, const ResultHook& hook) const {
  const BackendFlags flags(resolved_->options);
  TensorTable table = with_torch_errors("placing inputs and weights", [&] { return resolved_->place_leaves(leaves); });
  for (std::size_t i = 0; i < resolved_->steps.size(); ++i) resolved_->run_step(i, table, hook);
  ExecutionResult result;
  for (const ValueId id : resolved_->graph.outputs) result.outputs.push_back(table[id]);
  for (const ValueId id : resolved_->graph.states) result.states.push_back(table[id]);
  return result;
}

}  // namespace cudal1
