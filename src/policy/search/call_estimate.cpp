#include "policy/search/call_estimate.hpp"

#include <algorithm>
#include <map>

#include "device/vgpu/model/op_model.hpp"
#include "graph/operator_name.hpp"
#include "judge/nominal_host.hpp"
#include "program/unit_order.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/fused/region.hpp"
#include "writer/products/convolution_space.hpp"
#include "writer/techniques/matmul_rows.hpp"

namespace cudal1 {
namespace {

// Of the model's time for a library step, what such a step may take if the model is wrong: it is by 11% at the median.
constexpr double least_of_library = 0.5;
// Of convolutions it knows little: transposed ones in three dimensions were seen to run from 1 to 107 TFLOP/s.
constexpr double least_of_library_convolution = 0.05;
// A product with fp32's accuracy is three on tensor cores; convolutions may have PyTorch's own, which is one.
constexpr double products_a_multiply = 3.0;
// Of the units' rates, what kernels are likely to reach; of products, what must be computed at the least.
constexpr double likely_compute_share = 0.4, least_of_products = 0.4;
// Convolutions do worse than that: as products they gather their windows, and what a filter lacks is multiplied as
// zeros; as sums of loops they load for every multiplication; where another window looks at them, they are computed
// element by element.
constexpr double slower_by_gathering = 2.0, slower_by_loops = 5.0, slower_by_windows_in_windows = 10.0;
constexpr double fewest_rows = 16.0;  // of a tile
// Of a cat inside a kernel every element asks for each tensor whether it lies there, and reads it if so.
constexpr double instructions_a_joined_tensor = 4.0;
// A kernel that moves memory reaches this share of what a copy does.
constexpr double likely_bandwidth = 0.85;

std::vector<TensorMeta> metas_of(const OpGraph& graph, const std::vector<ValueId>& values) {
  std::vector<TensorMeta> metas;
  for (const ValueId id : values) metas.push_back(graph.values[id].meta);
  return metas;
}

//! Of tensors that a region reads from outside and writes for others.
std::set<ValueId> touched_by(const Region& region) {
  std::set<ValueId> touched(region.outputs().begin(), region.outputs().end());
  for (const int node : region.computing_nodes())
    for (const ValueId read : OpGraph::reads(region.graph().nodes[node])) {
      const ValueId base = base_of(region.graph(), read);
      if (!region.makes(base)) touched.insert(base);
    }
  return touched;
}

double products_a_multiply_of(const Fusion& fusion) {
  const auto math = fusion.parameters.find("math");
  return math != fusion.parameters.end() && math->second == "tf32" ? 1.0 : products_a_multiply;
}

std::string names_of(const Region& region) {
  std::string names;
  for (const int node : region.computing_nodes()) names += (names.empty() ? "" : " ") + region.graph().nodes[node].name;
  return names;
}

class Estimator {
 public:
  Estimator(const vgpu::GpuProfile& gpu, const OpGraph& graph, bool cuda_graph)
      : gpu_(gpu), graph_(graph), cuda_graph_(cuda_graph) {}

  void add_library_step(const Node& node) {
    const auto inputs = metas_of(graph_, OpGraph::reads(node)), outputs = metas_of(graph_, node.outputs);
    const double whole = vgpu::op_milliseconds(gpu_, node, inputs, outputs) + bias_milliseconds(node, outputs);
    steps_.push_back({node.name, true, whole});
    least_ += (is_direct_convolution(node) ? least_of_library_convolution : least_of_library) * whole;
    // A recurrent layer is launched step by step.
    host_ += NominalHost().op_ms * std::max(1.0, vgpu::work_of(node, inputs, outputs).repeats);
  }

  void add_kernel(const Region& region, double products = products_a_multiply) {
    const RowProductUse use = use_of_row_product(region).value_or(whole_gpu());
    const double bytes = bytes_of(region) + 2.0 * static_cast<double>(use.scratch_bytes);
    const double moving = bytes / gpu_.dram_achievable_bytes_per_second() * 1e3;
    const double computing = computing_seconds(region, products) * 1e3;
    const double launch = (follows_in_graph() ? gpu_.costs.graph_launch_us : gpu_.costs.launch_us) / 1e3;
    const double expected = std::max(moving / likely_bandwidth, computing / likely_compute_share * idle_times(use)) +
                            launch * static_cast<double>(use.kernels);
    steps_.push_back({names_of(region), false, expected});
    // Of a product perhaps only a part must be computed, say of a triangle.
    least_ += std::max(far_bytes_of(region) / gpu_.memory.dram_bytes_per_second * 1e3, least_of_products * computing);
    host_ += NominalHost().launch_ms * static_cast<double>(use.kernels);
  }

  CallEstimate total() const {
    const double host = cuda_graph_ ? NominalHost().graph_ms : host_;
    double expected = gpu_.costs.call_us / 1e3;
    for (const StepEstimate& step : steps_) expected += step.expected_ms;
    return {std::max(expected, host), least_};
  }

  const std::vector<StepEstimate>& steps() const { return steps_; }

 private:
  double bytes_of(const Region& region) const {
    double bytes = 0.0;
    for (const ValueId id : touched_by(region)) bytes += static_cast<double>(graph_.values[id].meta.span_bytes());
    return bytes;
  }

  //! Without what may be in the L2 cache: anything that a step made, if it fits there at all.
  double far_bytes_of(const Region& region) const {
    double bytes = 0.0;
    for (const ValueId id : touched_by(region)) {
      const Value& value = graph_.values[id];
      const auto size = static_cast<double>(value.meta.span_bytes());
      const bool may_be_near = value.kind == ValueKind::node_output && size < static_cast<double>(gpu_.memory.l2_bytes);
      if (!may_be_near) bytes += size;
    }
    return bytes;
  }

  //! The library adds a convolution's bias in a pass of its own.
  double bias_milliseconds(const Node& node, const std::vector<TensorMeta>& outputs) const {
    const auto* bias = argument_as<ValueRef>(node, 2, "bias");
    if (!is_direct_convolution(node) || bias == nullptr || bias->id < 0 || outputs.empty()) return 0.0;
    return 2.0 * static_cast<double>(outputs.front().span_bytes()) / gpu_.dram_achievable_bytes_per_second() * 1e3;
  }

  //! Others split what few blocks would have to do.
  RowProductUse whole_gpu() const { return {1, static_cast<std::int64_t>(gpu_.chip.multiprocessors)}; }

  //! How much longer it takes where some multiprocessors have no block.
  double idle_times(const RowProductUse& use) const {
    return std::max(1.0, static_cast<double>(gpu_.chip.multiprocessors) / static_cast<double>(use.blocks));
  }

  //! The first kernel of a graph gains nothing by being in one.
  bool follows_in_graph() const { return cuda_graph_ && !steps_.empty(); }

  //! Seconds at the full rate of the units, times what keeps convolutions from it.
  double computing_seconds(const Region& region, double products) const {
    double seconds = 0.0;
    for (const int index : region.computing_nodes()) {
      const Node& node = graph_.nodes[index];
      const auto inputs = metas_of(graph_, OpGraph::reads(node)), outputs = metas_of(graph_, node.outputs);
      const vgpu::OpWork work = vgpu::work_of(node, inputs, outputs);
      seconds += choosing_seconds(node);
      if (is_direct_convolution(node))
        seconds += work.flops * convolution_seconds_a_flop(region, node, products);
      else
        seconds += work.flops * products / tensor_flops_per_second();
    }
    return seconds;
  }

  double choosing_seconds(const Node& node) const {
    const std::string_view name = base_name(node.op);
    if (name != "cat" && name != "concat" && name != "concatenate" && name != "stack") return 0.0;
    const auto joined = static_cast<double>(OpGraph::reads(node).size());
    const auto elements = static_cast<double>(graph_.values[node.outputs.front()].meta.numel());
    return elements * joined * instructions_a_joined_tensor / (fp32_flops_per_second() / 2.0);
  }

  double convolution_seconds_a_flop(const Region& region, const Node& node, double products) const {
    const auto& nodes = region.computing_nodes();
    const bool is_seen_by_windows =
        std::ranges::any_of(nodes, [&](int other) { return is_pooling(graph_, graph_.nodes[other]); });
    if (is_seen_by_windows) return slower_by_windows_in_windows / fp32_flops_per_second();
    const auto makes_operand = [&](ValueId read) { return region.makes(base_of(graph_, read)); };
    const bool by_loops =
        !is_product_of_windows(graph_, node) || std::ranges::any_of(OpGraph::reads(node), makes_operand);
    if (by_loops) return slower_by_loops / fp32_flops_per_second();
    return slower_by_gathering * zeros_multiplied(node) * products / tensor_flops_per_second();
  }

  //! Products of a convolution as tiles compute it, in parts of those that it needs.
  double zeros_multiplied(const Node& node) const {
    const auto convolution = read_convolution(graph_, node);
    const auto channels = static_cast<double>(graph_.values[convolution->value].meta.sizes[1] / convolution->groups);
    double times = 1.0, rows = channels;
    if (is_by_phase(graph_, *convolution)) return times;
    for (std::size_t i = 0; convolution->is_transposed && i < convolution->sizes.kernel.size(); ++i) {
      const std::int64_t kernel = convolution->sizes.kernel[i], step = convolution->sizes.stride[i];
      times *= static_cast<double>((kernel + step - 1) / step * step) / static_cast<double>(kernel);
      rows *= static_cast<double>(step);
    }
    return times * std::max(1.0, fewest_rows / rows);
  }

  double fp32_flops_per_second() const {
    return 2.0 * gpu_.pipes.single * static_cast<double>(gpu_.chip.multiprocessors) * gpu_.clocks_per_second();
  }

  double tensor_flops_per_second() const {
    return 2.0 * gpu_.tensor.tf32 * static_cast<double>(gpu_.chip.multiprocessors) * gpu_.clocks_per_second();
  }

  const vgpu::GpuProfile& gpu_;
  const OpGraph& graph_;
  bool cuda_graph_;
  std::vector<StepEstimate> steps_;
  double least_ = 0.0, host_ = 0.0;
};

Estimator estimated(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal,
                    const std::set<std::string>& hoisted) {
  Estimator estimator(gpu, graph, proposal.cuda_graph);
  std::set<int> fused;
  for (const Fusion& fusion : proposal.fusions) {
    std::set<int> nodes;
    for (const std::string& name : fusion.nodes)
      if (const int node = graph.find_node(name); node >= 0) nodes.insert(node);
    estimator.add_kernel(Region(graph, nodes), products_a_multiply_of(fusion));
    fused.merge(nodes);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!fused.contains(static_cast<int>(i)) && !is_view_node(graph, graph.nodes[i]) &&
        !hoisted.contains(graph.nodes[i].name))
      estimator.add_library_step(graph.nodes[i]);
  return estimator;
}

}  // namespace

std::vector<StepEstimate> estimate_steps(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal,
                                         const std::set<std::string>& hoisted) {
  return estimated(gpu, graph, proposal, hoisted).steps();
}

bool is_worth_a_kernel(const vgpu::GpuProfile& gpu, const OpGraph& graph, int node) {
  Estimator own(gpu, graph, false), library(gpu, graph, false);
  own.add_kernel(Region(graph, {node}));
  library.add_library_step(graph.nodes[node]);
  return own.total().expected_ms <= library.total().expected_ms;
}

CallEstimate estimate_call(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal,
                           const std::set<std::string>& hoisted) {
  return estimated(gpu, graph, proposal, hoisted).total();
}

}  // namespace cudal1
