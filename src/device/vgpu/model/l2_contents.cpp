#include "device/vgpu/model/l2_contents.hpp"

#include <algorithm>
#include <iterator>

namespace cudal1::vgpu {
namespace {

// Replacement is not quite by age, and two halves of L2 may both hold a line.
constexpr double usable_share = 0.75;

}  // namespace

L2Contents::L2Contents(const GpuProfile& gpu) : capacity_(static_cast<double>(gpu.memory.l2_bytes) * usable_share) {}

double L2Contents::cached(const std::string& buffer) const {
  const auto found = by_name_.find(buffer);
  return found == by_name_.end() ? 0 : found->second->second;
}

void L2Contents::remove(Buffers::iterator buffer) {
  held_bytes_ -= buffer->second;
  by_name_.erase(buffer->first);
  buffers_.erase(buffer);
}

void L2Contents::use(const std::string& buffer, double bytes) {
  if (const auto found = by_name_.find(buffer); found != by_name_.end()) remove(found->second);
  if (bytes <= 0 || capacity_ <= 0) return;
  buffers_.emplace_front(buffer, std::min(bytes, capacity_));
  by_name_[buffer] = buffers_.begin();
  held_bytes_ += buffers_.front().second;
  while (held_bytes_ - buffers_.back().second >= capacity_) remove(std::prev(buffers_.end()));
  if (held_bytes_ <= capacity_) return;
  buffers_.back().second -= held_bytes_ - capacity_;  // a part of the oldest
  held_bytes_ = capacity_;
}

}  // namespace cudal1::vgpu
