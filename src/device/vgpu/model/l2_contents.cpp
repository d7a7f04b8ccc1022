#include "device/vgpu/model/l2_contents.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

// Replacement is not quite by age, and two halves of L2 may both hold a line.
constexpr double usable_share = 0.75;

}  // namespace

L2Contents::L2Contents(const GpuProfile& gpu) : capacity_(static_cast<double>(gpu.memory.l2_bytes) * usable_share) {}

double L2Contents::cached(const std::string& buffer) const {
  const auto found = std::ranges::find(buffers_, buffer, &std::pair<std::string, double>::first);
  return found == buffers_.end() ? 0 : found->second;
}

void L2Contents::use(const std::string& buffer, double bytes) {
  buffers_.remove_if([&](const auto& held) { return held.first == buffer; });
  buffers_.emplace_front(buffer, std::min(bytes, capacity_));
  double sum = 0;
  for (auto& [name, held] : buffers_) {
    held = std::min(held, capacity_ - sum);
    sum += held;
  }
  buffers_.remove_if([](const auto& held) { return held.second <= 0; });
}

}  // namespace cudal1::vgpu
