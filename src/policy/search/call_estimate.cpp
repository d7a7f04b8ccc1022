#include "policy/search/call_estimate.hpp"

#include <algorithm>
#include <map>

#include "device/vgpu/model/op_model.hpp"
#include "judge/nominal_host.hpp"
#include "program/unit_order.hpp"
#include "writer/fused/region.hpp"

namespace cudal1 {
namespace {

// Of the model's time for a library step, what such a step may take if the model is wrong: it is by 11% at the median.
constexpr double least_of_library = 0.5;
// A product with fp32's accuracy is three on tensor cores.
constexpr double products_a_multiply = 3.0;
// Of the units' rates, what kernels are likely to reach; of products, what must be computed at the least.
constexpr double likely_compute_share = 0.4, least_of_products = 0.4;
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
    const double whole = vgpu::op_milliseconds(gpu_, node, inputs, outputs);
    steps_.push_back({node.name, true, whole});
    least_ += least_of_library * whole;
    host_ += NominalHost().op_ms;
  }

  void add_kernel(const Region& region) {
    const double moving = bytes_of(region) / gpu_.dram_achievable_bytes_per_second() * 1e3;
    const double computing = computing_seconds(region) * 1e3;
    const double launch = (cuda_graph_ ? gpu_.costs.graph_launch_us : gpu_.costs.launch_us) / 1e3;
    const double expected = std::max(moving / likely_bandwidth, computing / likely_compute_share) + launch;
    steps_.push_back({names_of(region), false, expected});
    // Of a product perhaps only a part must be computed, say of a triangle.
    least_ += std::max(far_bytes_of(region) / gpu_.memory.dram_bytes_per_second * 1e3, least_of_products * computing);
    host_ += NominalHost().launch_ms;
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

  //! Seconds at the full rate of the units: products on tensor cores; direct convolutions, which are sums of our own
  //! kernels' loops, on those for fp32.
  double computing_seconds(const Region& region) const {
    double seconds = 0.0;
    for (const int index : region.computing_nodes()) {
      const Node& node = graph_.nodes[index];
      const auto inputs = metas_of(graph_, OpGraph::reads(node)), outputs = metas_of(graph_, node.outputs);
      const vgpu::OpWork work = vgpu::work_of(node, inputs, outputs);
      const bool by_loops = work.op_class.starts_with("convolution");
      seconds += work.flops / (by_loops ? fp32_flops_per_second() : tensor_flops_per_second() / products_a_multiply);
    }
    return seconds;
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

Estimator estimated(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal) {
  Estimator estimator(gpu, graph, proposal.cuda_graph);
  std::set<int> fused;
  for (const Fusion& fusion : proposal.fusions) {
    std::set<int> nodes;
    for (const std::string& name : fusion.nodes)
      if (const int node = graph.find_node(name); node >= 0) nodes.insert(node);
    estimator.add_kernel(Region(graph, nodes));
    fused.merge(nodes);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!fused.contains(static_cast<int>(i)) && !is_view_node(graph, graph.nodes[i]))
      estimator.add_library_step(graph.nodes[i]);
  return estimator;
}

}  // namespace

std::vector<StepEstimate> estimate_steps(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal) {
  return estimated(gpu, graph, proposal).steps();
}

CallEstimate estimate_call(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal) {
  return estimated(gpu, graph, proposal).total();
}

}  // namespace cudal1
