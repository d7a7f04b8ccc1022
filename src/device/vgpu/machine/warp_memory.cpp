// A warp's way to memory: bounds and alignment, for one lane or all at once.
#include <fmt/format.h>

#include "device/vgpu/machine/reach.hpp"

namespace cudal1::vgpu {
namespace {

//! Whether a generic address was meant for a window, though it may lie before or behind what is there.
bool is_meant_for(std::uint64_t window, std::uint64_t address) {
  constexpr std::uint64_t bytes_before = std::uint64_t{1} << 20, bytes_behind = std::uint64_t{1} << 32;
  return address - (window - bytes_before) < bytes_before + bytes_behind;
}

//! "an access of 4 bytes at byte -8 of shared memory, which has 1024 (8 bytes before the beginning of 'tile')".
std::string describe(std::uint64_t bytes, std::uint64_t address, const char* memory, std::uint64_t size,
                     const std::string& remark = "") {
  return fmt::format("an access of {} bytes at byte {} of {} memory, which has {}{}", bytes,
                     static_cast<std::int64_t>(address), memory, size, remark);
}

//! What is wrong with an access to the bytes from `begin` on, if anything is.
std::optional<FaultKind> fault_of(std::uint64_t address, std::uint64_t bytes, std::uint64_t size,
                                  std::uint64_t begin = 0) {
  if (address % bytes != 0) return FaultKind::misaligned;
  address -= begin;
  return address >= size || bytes > size - address ? std::optional(FaultKind::out_of_bounds) : std::nullopt;
}

}  // namespace

void Warp::check_alignment(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) const {
  if (address % bytes == 0) return;
  fail(FaultKind::misaligned, fmt::format("an access of {} bytes at {}", bytes, block_.global->describe(address)), lane,
       step, address);
}

std::byte* Warp::global(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step) {
  check_alignment(address, bytes, lane, step);
  const Segment* segment = block_.global->find(address, bytes);
  if (!segment || (write && !segment->writable))
    fail(segment ? FaultKind::read_only : FaultKind::out_of_bounds,
         fmt::format("{} {} bytes at {}", write ? "writes" : "reads", bytes, block_.global->describe(address)), lane,
         step, address);
  return segment->host + (address - segment->begin);
}

std::byte* Warp::shared(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) {
  const std::uint64_t size = block_.shared.size();
  const SharedArrays::Bounds& bounds = block_.shared_bounds[step.array];
  if (const auto fault = fault_of(address, bytes, bounds.bytes, bounds.begin))
    fail(*fault,
         describe(bytes, address, "shared", size, block_.kernel->shared_arrays.remark_on(address, size, step.array)),
         lane, step);
  return block_.shared.data() + address;
}

std::byte* Warp::local(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) {
  const std::uint64_t size = block_.kernel->local_bytes;
  if (const auto fault = fault_of(address, bytes, size))
    fail(*fault, describe(bytes, address, "local", size), lane, step);
  return local_.data() + static_cast<std::uint64_t>(lane) * size + address;
}

std::byte* Warp::generic(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step) {
  if (is_meant_for(shared_window, address)) return shared(address - shared_window, bytes, lane, step);
  if (is_meant_for(local_window, address)) return local(address - local_window, bytes, lane, step);
  return global(address, bytes, write, lane, step);
}

// --- all lanes at once

bool Warp::find_segment(AccessPattern& pattern, std::uint64_t lowest, std::uint64_t bytes) const {
  const Segment* segment = block_.global->find(lowest, bytes);
  if (!segment) return false;
  pattern.segment = segment;
  pattern.segment_index = block_.global->index_of(*segment);
  return true;
}

void Warp::show(const AccessPattern& pattern, std::uint64_t first, AccessKind kind, const Step& step,
                void (AccessObserver::*to)(const WarpAccess&)) {
  std::array<std::uint64_t, warp_size> addresses;
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    addresses[lane] = first + static_cast<std::uint64_t>(pattern.deltas[lane]);
  WarpAccess access = described(kind, pattern.bytes, pattern.mask, addresses, step);
  access.shape = pattern.shape;
  (block_.observer->*to)(access);
}

WarpAccess Warp::described(AccessKind kind, std::uint32_t bytes, Mask mask,
                           const std::array<std::uint64_t, warp_size>& addresses, const Step& step) {
  WarpAccess access{kind, bytes, mask, &addresses, index(), &step.at, step.strong};
  access.element_bytes = step.element_bytes;
  access.guess = step.guesses;
  if (step.stores_word) access.values = registers_.words<std::uint32_t>(step.data[0]);
  return access;
}

// --- lane by lane

Reach Warp::reach_lanes(const Step& step, Mask mask, std::uint32_t bytes, AccessKind kind) {
  const auto* bases = registers_.words<std::uint64_t>(step.operation.operands[0]);
  const bool write = kind != AccessKind::read;
  std::array<std::uint64_t, warp_size> addresses{};
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = bases[lane] + static_cast<std::uint64_t>(step.offset);
    addresses[static_cast<std::size_t>(lane)] = address;
    std::byte*& place = places_[static_cast<std::size_t>(lane)];
    if (step.space == AddressSpace::shared)
      place = shared(address, bytes, lane, step);
    else if (step.space == AddressSpace::local)
      place = local(address, bytes, lane, step);
    else if (step.space == AddressSpace::generic)
      place = generic(address, bytes, write, lane, step);
    else
      place = global(address, bytes, write, lane, step);
  }
  if (block_.tally || block_.observer) account_lanes(step, addresses, described(kind, bytes, mask, addresses, step));
  return {nullptr, nullptr, places_.data()};
}

//! Each memory gets those of its lanes, at its own addresses.
void Warp::account_lanes(const Step& step, std::array<std::uint64_t, warp_size>& addresses, WarpAccess access) {
  Mask in_shared = 0, in_local = 0;
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint64_t& address = addresses[static_cast<std::size_t>(lane)];
    if (step.space == AddressSpace::shared || (step.space == AddressSpace::generic && address >= shared_window))
      in_shared |= Mask{1} << lane;
    else if (step.space == AddressSpace::local || (step.space == AddressSpace::generic && address >= local_window))
      in_local |= Mask{1} << lane;
    if (step.space == AddressSpace::generic && address >= local_window)
      address -= address >= shared_window ? shared_window : local_window;
  }
  if (step.space == AddressSpace::constant) {
    if (block_.tally) block_.tally->constant(access);
    return;
  }
  const Mask in_global = access.mask & ~in_shared & ~in_local;
  if (access.mask = in_shared; access.mask != 0) account_shared(access);
  if (access.mask = in_local; access.mask != 0) account_local(access);
  if (access.mask = in_global; access.mask != 0) account_global(access);
}

void Warp::account_global(const WarpAccess& access) {
  if (block_.tally) block_.tally->global(access);
  if (block_.observer) block_.observer->global(access);
}

void Warp::account_shared(const WarpAccess& access) {
  if (block_.tally) block_.tally->shared(access);
  if (block_.observer) block_.observer->shared(access);
}

void Warp::account_local(const WarpAccess& access) {
  if (block_.tally) block_.tally->local(access);
  if (block_.observer) block_.observer->local(access);
}

}  // namespace cudal1::vgpu
