#include "device/vgpu/machine/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {
namespace {

//! The first segment that begins after the address.
auto after(const std::vector<Segment>& segments, std::uint64_t address) {
  return std::upper_bound(segments.begin(), segments.end(), address,
                          [](std::uint64_t a, const Segment& segment) { return a < segment.begin; });
}

}  // namespace

void GlobalMemory::add(Segment segment) { segments_.insert(after(segments_, segment.begin), std::move(segment)); }

const Segment* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  const auto next = after(segments_, address);
  if (next == segments_.begin()) return nullptr;
  const Segment& segment = *std::prev(next);
  const std::uint64_t offset = address - segment.begin;
  return offset < segment.bytes && bytes <= segment.bytes - offset ? &segment : nullptr;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const auto next = after(segments_, address);
  if (next == segments_.begin()) return "before all buffers";
  const Segment& segment = *std::prev(next);
  const std::uint64_t offset = address - segment.begin;
  if (offset < segment.bytes) return fmt::format("byte {} of '{}', which has {}", offset, segment.name, segment.bytes);
  return fmt::format("{} bytes after the end of '{}'", offset - segment.bytes, segment.name);
}

}  // namespace cudal1::vgpu
