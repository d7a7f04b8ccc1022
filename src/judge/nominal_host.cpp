#include "judge/nominal_host.hpp"

#include <algorithm>
#include <set>

namespace cudal1 {
namespace {

//! Library steps inside a graph read fresh inputs and leave fresh outputs through copies.
std::size_t copies_around_graph(const Plan& plan) {
  std::set<int> copied;
  for (const Step& step : plan.call) {
    if (!std::holds_alternative<OpStep>(step)) continue;
    for (const int buffer : buffers_of(plan, step)) {
      const BufferRole role = plan.buffers[static_cast<std::size_t>(buffer)].role;
      if (role == BufferRole::input || role == BufferRole::output) copied.insert(buffer);
    }
  }
  return copied.size();
}

}  // namespace

double nominal_enqueue_ms(const Plan& plan, const NominalHost& host) {
  if (plan.cuda_graph) {
    const auto is_launch = [](const Step& step) { return std::holds_alternative<LaunchStep>(step); };
    return host.graph_ms + host.patch_ms * static_cast<double>(std::ranges::count_if(plan.call, is_launch)) +
           host.launch_ms * static_cast<double>(copies_around_graph(plan));
  }
  double total = 0.0;
  for (const Step& step : plan.call) total += std::holds_alternative<OpStep>(step) ? host.op_ms : host.launch_ms;
  return total;
}

double cost_ms(const CallTimes& call, double enqueue_ms) {
  return call.gate == Gate::held ? std::max(call.device_ms, enqueue_ms) : call.device_ms;
}

}  // namespace cudal1
