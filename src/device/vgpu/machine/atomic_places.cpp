#include "device/vgpu/machine/atomic_places.hpp"

#include <algorithm>

#include "device/vgpu/machine/access_pattern.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::size_t places = 4096;
constexpr std::uint64_t place_bytes = 4096;

}  // namespace

std::uint64_t atomic_passes(std::uint64_t* addresses, std::size_t count) {
  std::sort(addresses, addresses + count);
  std::uint64_t passes = 0, in_sector = 0, same = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool new_sector = i == 0 || addresses[i] / sector_bytes != addresses[i - 1] / sector_bytes;
    if (new_sector) passes += in_sector;
    same = i > 0 && addresses[i] == addresses[i - 1] ? same + 1 : 1;
    in_sector = new_sector ? 1 : std::max(in_sector, same);
  }
  return passes + in_sector;
}

void AtomicPlaces::note(std::uint64_t address, std::uint64_t passes) {
  if (passes_.empty()) passes_.resize(places);
  passes_[(address / place_bytes * 0x9e3779b97f4a7c15u) >> 52] += passes;
}

void AtomicPlaces::add(const AtomicPlaces& other) {
  if (other.passes_.empty()) return;
  passes_.resize(places);
  for (std::size_t i = 0; i < places; ++i) passes_[i] += other.passes_[i];
}

std::uint64_t AtomicPlaces::busiest() const { return passes_.empty() ? 0 : *std::ranges::max_element(passes_); }

}  // namespace cudal1::vgpu
