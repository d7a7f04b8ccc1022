// How long a proposal would take, before anything is written or compiled: a roofline for kernels of our own, the model
// of the virtual GPU for library steps.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/op_graph.hpp"
#include "policy/search/proposal.hpp"

namespace cudal1 {

struct CallEstimate {
  double expected_ms = 0.0;
  //! It cannot be less: what must be moved at the full rate, what the library needs at the least.
  double least_ms = 0.0;
};

//! Of the graph that the proposal's rewrites leave.
CallEstimate estimate_call(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal);

}  // namespace cudal1
