#include "bench/graph_bytes.hpp"

#include <algorithm>
#include <vector>

namespace cudal1 {
namespace {

class Counter {
 public:
  Counter(const OpGraph& graph, Width width) : graph_(graph), width_(width) {}

  GraphBytes count() const {
    GraphBytes bytes;
    bytes.weights = sum(graph_.weights) + sum(graph_.states);
    bytes.inputs = sum(graph_.inputs);
    bytes.results = sum(graph_.outputs) + sum(graph_.states);
    bytes.most_alive = most_alive();
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      bytes.largest = std::max(bytes.largest, bytes_of(static_cast<ValueId>(id)));
    return bytes;
  }

 private:
  const Value& value(ValueId id) const { return graph_.values[static_cast<std::size_t>(id)]; }

  std::uint64_t bytes_of(ValueId id) const {
    const TensorMeta& meta = value(id).meta;
    const bool is_wide = width_ == Width::fp64 && is_floating(meta.dtype);
    return static_cast<std::uint64_t>(meta.numel() * size_in_bytes(is_wide ? DType::f64 : meta.dtype));
  }

  std::uint64_t sum(const std::vector<ValueId>& ids) const {
    std::uint64_t bytes = 0;
    for (const ValueId id : ids) bytes += bytes_of(id);
    return bytes;
  }

  //! A view keeps the memory that it looks at.
  ValueId owner(ValueId id) const { return value(id).view ? value(id).view->base : id; }

  //! By value: the last node that makes or reads it; one past all nodes for outputs.
  std::vector<std::size_t> last_uses() const {
    std::vector<std::size_t> last(graph_.values.size(), 0);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].outputs) last[static_cast<std::size_t>(owner(id))] = i;
      for (const ValueId id : OpGraph::reads(graph_.nodes[i])) last[static_cast<std::size_t>(owner(id))] = i;
    }
    for (const ValueId id : graph_.outputs) last[static_cast<std::size_t>(owner(id))] = graph_.nodes.size();
    return last;
  }

  std::uint64_t most_alive() const {
    const std::vector<std::size_t> last = last_uses();
    std::vector<std::uint64_t> freed_after(graph_.nodes.size() + 1, 0);
    std::uint64_t alive = 0, most = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].outputs) {
        if (owner(id) != id) continue;
        alive += bytes_of(id);
        freed_after[last[static_cast<std::size_t>(id)]] += bytes_of(id);
      }
      most = std::max(most, alive);
      alive -= freed_after[i];
    }
    return most;
  }

  const OpGraph& graph_;
  Width width_;
};

}  // namespace

GraphBytes graph_bytes(const OpGraph& graph, Width width) { return Counter(graph, width).count(); }

}  // namespace cudal1
