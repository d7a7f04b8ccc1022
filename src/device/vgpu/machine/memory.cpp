#include "device/vgpu/machine/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {
namespace {

//! From a buffer: an address that lies further away was hardly meant for it.
constexpr std::uint64_t too_far = std::uint64_t{1} << 28;

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
  const Segment* const behind = next == segments_.end() ? nullptr : &*next;
  const Segment* const before = next == segments_.begin() ? nullptr : &*std::prev(next);
  if (before && address - before->begin < before->bytes)
    return fmt::format("byte {} of '{}', which has {} (address {:#x})", address - before->begin, before->name,
                       before->bytes, address);
  const std::uint64_t after_end = before ? address - before->begin - before->bytes : too_far;
  const std::uint64_t to_begin = behind ? behind->begin - address : too_far;
  if (std::min(after_end, to_begin) >= too_far) return fmt::format("address {:#x}, with no buffer near", address);
  if (to_begin < after_end)
    return fmt::format("{} bytes before the beginning of '{}' (address {:#x})", to_begin, behind->name, address);
  return fmt::format("{} bytes after the end of '{}' (address {:#x})", after_end, before->name, address);
}

}  // namespace cudal1::vgpu
