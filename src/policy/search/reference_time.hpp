// How long a task's reference is expected to take, so that tasks can be chosen before anything is measured.
#pragma once

#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/op_graph.hpp"

namespace cudal1 {

struct TimeBounds {
  double low_us = 15.0, high_us = 200.0;
};

//! Of the empty program; the graph's metas must be known (infer_metas).
double expected_reference_us(const vgpu::GpuProfile& gpu, const OpGraph& graph);

bool is_expected_within(const vgpu::GpuProfile& gpu, const OpGraph& graph, const TimeBounds& bounds);

}  // namespace cudal1
