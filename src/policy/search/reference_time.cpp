#include "policy/search/reference_time.hpp"

#include "policy/search/call_estimate.hpp"

namespace cudal1 {

double expected_reference_us(const vgpu::GpuProfile& gpu, const OpGraph& graph) {
  return estimate_call(gpu, graph, Proposal{}).expected_ms * 1e3;
}

bool is_expected_within(const vgpu::GpuProfile& gpu, const OpGraph& graph, const TimeBounds& bounds) {
  const double expected_us = expected_reference_us(gpu, graph);
  return bounds.low_us <= expected_us && expected_us <= bounds.high_us;
}

}  // namespace cudal1
