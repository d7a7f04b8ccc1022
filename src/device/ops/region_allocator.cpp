#include "device/ops/region_allocator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudal1 {

void RegionAllocator::reset(std::byte* base, std::size_t bytes) {
  free_ = {{base, bytes / alignment * alignment}};
  used_.clear();
  kept_.clear();
  in_use_ = 0;
}

void RegionAllocator::vary(std::uint64_t seed, std::size_t roaming) {
  variation_ = seed;
  roaming_ = roaming;
}

//! Places where `wanted` bytes fit are counted through all free pieces; one of the first is taken.
std::byte* RegionAllocator::choose_place(std::size_t wanted) {
  std::size_t places = 0;
  for (const auto& [address, bytes] : free_)
    if (bytes >= wanted) places += (bytes - wanted) / alignment + 1;
  if (places == 0) return nullptr;
  variation_ = variation_ * 6364136223846793005u + 1442695040888963407u;  // a linear congruential generator
  std::size_t place = (variation_ >> 33) % std::min(places, roaming_ / alignment + 1);
  for (const auto& [address, bytes] : free_) {
    if (bytes < wanted) continue;
    const std::size_t here = (bytes - wanted) / alignment + 1;
    if (place < here) return address + place * alignment;
    place -= here;
  }
  return nullptr;
}

void RegionAllocator::keep_apart(bool apart) {
  apart_ = apart;
  if (apart) return;
  for (const auto& [stream, pieces] : std::exchange(kept_, {}))
    for (const auto& [bytes, address] : pieces) free(address);
}

//! A piece of at most twice the size; null where there is none.
void* RegionAllocator::kept_for(const void* stream, std::size_t wanted) {
  const auto pieces = kept_.find(stream);
  if (pieces == kept_.end()) return nullptr;
  const auto piece = pieces->second.lower_bound(wanted);
  if (piece == pieces->second.end() || piece->first > 2 * wanted) return nullptr;
  return pieces->second.extract(piece).mapped();
}

void* RegionAllocator::allocate(std::size_t bytes, const void* stream) {
  const std::size_t wanted = std::max<std::size_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  if (void* kept = kept_for(stream, wanted)) return kept;
  std::byte* address = choose_place(wanted);
  if (!address) return nullptr;
  const auto piece = std::prev(free_.upper_bound(address));
  const std::size_t before = static_cast<std::size_t>(address - piece->first), after = piece->second - before - wanted;
  if (before > 0)
    piece->second = before;
  else
    free_.erase(piece);
  if (after > 0) free_.emplace(address + wanted, after);
  used_.emplace(address, wanted);
  in_use_ += wanted;
  return address;
}

void RegionAllocator::free(void* pointer, const void* stream) {
  const auto used = used_.find(static_cast<std::byte*>(pointer));
  if (used == used_.end()) return;
  if (apart_) {
    kept_[stream].emplace(used->second, used->first);
    return;
  }
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
