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

//! A kernel of our own or a step of the library.
struct StepEstimate {
  std::string nodes;
  bool is_library = false;
  double expected_ms = 0.0;
};

struct CallEstimate {
  double expected_ms = 0.0;
  //! It cannot be less: what must be moved at the full rate, what the library needs at the least.
  double least_ms = 0.0;
};

//! One by one, what a call consists of, on the graph that the proposal's rewrites leave; `hoisted`: nodes of it that
//! are no part of a call.
std::vector<StepEstimate> estimate_steps(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal,
                                         const std::set<std::string>& hoisted = {});

//! Is a kernel of our own expected to be as fast as the library's, for this node alone?
bool is_worth_a_kernel(const vgpu::GpuProfile& gpu, const OpGraph& graph, int node);

//! All of it.
CallEstimate estimate_call(const vgpu::GpuProfile& gpu, const OpGraph& graph, const Proposal& proposal,
                           const std::set<std::string>& hoisted = {});

}  // namespace cudal1
