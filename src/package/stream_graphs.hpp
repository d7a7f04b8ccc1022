// Captured calls, one for each stream: launches of one graph must come one after the other, and only a stream orders
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "device/cuda/captured_call.hpp"

namespace cudal1 {

//! `Memory`: what the steps of a captured call use.
template <class Memory>
class StreamGraphs {
 public:
  struct Graph {
    explicit Graph(const Plan& plan) : captured(plan) {}
    Memory memory;  // outlives the graph
    cuda::CapturedCall captured;
    std::uint64_t last_use = 0;
  };
  using Capture = std::function<std::unique_ptr<Graph>()>;

  //! The graph of this stream; where there is none, what `capture` makes. Throws what it throws.
  cuda::CapturedCall& on(CUstream stream, const Capture& capture) {
    unsigned long long id = 0;  // a handle may come again when its stream is gone
    cuda::check(cuda::driver().cuStreamGetId(stream, &id), "name the stream");
    auto found = graphs_.find(id);
    if (found == graphs_.end()) {
      if (graphs_.size() >= most) drop_least_used();
      found = graphs_.emplace(id, capture()).first;
    }
    found->second->last_use = ++uses_;
    return found->second->captured;
  }

  bool empty() const { return graphs_.empty(); }
  void clear() { graphs_.clear(); }

 private:
  // Each holds the memory of a call. Who uses more streams at a time captures again and again.
  static constexpr std::size_t most = 8;

  void drop_least_used() {
    const auto last_use = [](const auto& entry) { return entry.second->last_use; };
    graphs_.erase(std::ranges::min_element(graphs_, {}, last_use));
  }

  std::map<std::uint64_t, std::unique_ptr<Graph>> graphs_;  // by the stream's id
  std::uint64_t uses_ = 0;
};

}  // namespace cudal1
