#include "device/ops/region_allocator.hpp"

#include <algorithm>
#include <iterator>

namespace cudal1 {

void RegionAllocator::reset(std::byte* base, std::size_t bytes) {
  free_ = {{base, bytes / alignment * alignment}};
  used_.clear();
  in_use_ = 0;
}

void* RegionAllocator::allocate(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  auto best = free_.end();
  for (auto piece = free_.begin(); piece != free_.end(); ++piece)
    if (piece->second >= wanted && (best == free_.end() || piece->second < best->second)) best = piece;
  if (best == free_.end()) return nullptr;
  std::byte* address = best->first;
  const std::size_t left = best->second - wanted;
  free_.erase(best);
  if (left > 0) free_.emplace(address + wanted, left);
  used_.emplace(address, wanted);
  in_use_ += wanted;
  return address;
}

void RegionAllocator::free(void* pointer) {
  const auto used = used_.find(static_cast<std::byte*>(pointer));
  if (used == used_.end()) return;
  auto [address, bytes] = *used;
  used_.erase(used);
  in_use_ -= bytes;
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == address) {
      previous->second += bytes;
      return;
    }
  }
  free_.emplace(address, bytes);
}

}  // namespace cudal1
