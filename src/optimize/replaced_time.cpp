#include "optimize/replaced_time.hpp"

#include <set>

namespace cudal1 {

double replaced_share(const Plan& plan, const vgpu::ProfileReport& reference) {
  std::set<std::string> left;
  for (const Step& step : plan.call)
    if (const auto* op = std::get_if<OpStep>(&step)) left.insert(op->node.name);
  double all = 0.0, replaced = 0.0;
  for (const vgpu::KernelReport& row : reference.rows) {
    all += row.milliseconds;
    if (!left.contains(row.name)) replaced += row.milliseconds;
  }
  return all > 0.0 ? replaced / all : 0.0;
}

}  // namespace cudal1
