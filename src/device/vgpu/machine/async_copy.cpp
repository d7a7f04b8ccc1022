#include "device/vgpu/machine/async_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

//! A copy does not say what it copies; no type of C++ wants more, and so no padding is wider.
constexpr std::uint8_t largest_element = 8;

void finish(const AsyncCopies::Copy& copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  std::memset(copy.to + copy.bytes, 0, copy.zeros);
}

//! Does those of these lanes, and takes them out.
void finish_lanes(std::vector<AsyncCopies::Copy>& copies, Mask mask, std::vector<AsyncCopies::Copy>* ended) {
  std::erase_if(copies, [&](const AsyncCopies::Copy& copy) {
    const bool mine = (mask >> copy.lane & 1) != 0;
    if (mine) finish(copy);
    if (mine && ended) ended->push_back(copy);
    return mine;
  });
}

//! Bounds for the bytes that are read, alignment for all that could be.
const std::byte* source_of(Warp& warp, const Step& step, int lane, std::uint64_t address, std::uint32_t bytes,
                           std::uint32_t size) {
  if (size == bytes) return warp.global(address, bytes, false, lane, step);
  warp.check_alignment(address, bytes, lane, step);
  warp.global(address + size - 1, 1, false, lane, step);
  return warp.global(address, 1, false, lane, step);
}

struct Addresses {
  std::array<std::uint64_t, warp_size> shared{}, global{};
};

//! Both places are checked when the copy is asked for, so that a fault has its line.
template <std::uint32_t bytes>
void start_copies(Warp& warp, const Step& step, Mask mask) {
  Registers& registers = warp.registers();
  Addresses addresses;
  Mask readers = 0;
  const std::uint32_t number = warp.async_copies().next_number();
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto operand = [&](std::size_t i) {
      return registers.words<std::uint64_t>(step.operation.operands[i])[lane];
    };
    const Slot size_slot = step.operation.operands[2];
    const std::uint32_t size = size_slot == 0 ? bytes : registers.words<std::uint32_t>(size_slot)[lane];
    if (size > bytes)
      warp.fail(FaultKind::out_of_bounds, fmt::format("cp.async of {} bytes is asked for {}", bytes, size), lane, step);
    const auto at = static_cast<std::size_t>(lane);
    addresses.shared[at] = operand(0) + static_cast<std::uint64_t>(step.offset);
    if (step.space == AddressSpace::generic && addresses.shared[at] >= shared_window)
      addresses.shared[at] -= shared_window;
    addresses.global[at] = operand(1) + operand(3);
    std::byte* to = warp.shared(addresses.shared[at], bytes, lane, step);
    // Nothing is read where nothing is copied: the address may be beyond the buffer then.
    const std::byte* from = size == 0 ? to : source_of(warp, step, lane, addresses.global[at], bytes, size);
    if (size > 0) readers |= Mask{1} << lane;
    warp.async_copies().start({to, from, size, bytes - size, lane, &step.at, number});
  }
  if (readers != 0) {
    WarpAccess source{AccessKind::read, bytes, readers, &addresses.global, warp.index(), &step.at};
    source.element_bytes = std::min<std::uint8_t>(largest_element, bytes);
    warp.account_global(source);
  }
  const WarpAccess target{AccessKind::write, bytes, mask, &addresses.shared, warp.index(), &step.at};
  if (warp.block().tally) warp.block().tally->shared(target);
  if (warp.block().observer) warp.block().observer->copy_begins(target);
}

//! Instruction by instruction, as they were asked for.
void show_ended(Warp& warp, std::vector<AsyncCopies::Copy>& ended) {
  std::ranges::stable_sort(ended, {}, &AsyncCopies::Copy::number);
  for (auto first = ended.begin(); first != ended.end();) {
    std::array<std::uint64_t, warp_size> addresses{};
    WarpAccess access{AccessKind::write, first->bytes + first->zeros, 0, &addresses, warp.index(), first->at};
    for (const std::uint32_t number = first->number; first != ended.end() && first->number == number; ++first) {
      addresses[static_cast<std::size_t>(first->lane)] =
          static_cast<std::uint64_t>(first->to - warp.block().shared.data());
      access.mask |= Mask{1} << first->lane;
    }
    warp.block().observer->copy_ends(access);
  }
}

}  // namespace

void AsyncCopies::commit(Mask mask) {
  Group group{{}, mask};
  std::erase_if(open_, [&](const Copy& copy) {
    const bool mine = (mask >> copy.lane & 1) != 0;
    if (mine) group.copies.push_back(copy);
    return mine;
  });
  groups_.push_back(std::move(group));
}

void AsyncCopies::wait(Mask mask, std::uint32_t left, std::vector<Copy>* ended) {
  for (; mask != 0; mask &= mask - 1) {
    const Mask lane = mask & (~mask + 1);
    std::uint32_t later = 0;  // groups of this lane behind the one looked at
    for (std::size_t i = groups_.size(); i-- > 0;) {
      if ((groups_[i].lanes & lane) == 0 || later++ < left) continue;
      finish_lanes(groups_[i].copies, lane, ended);
      groups_[i].lanes &= ~lane;
    }
  }
  std::erase_if(groups_, [](const Group& group) { return group.lanes == 0; });
}

void AsyncCopies::wait_for_all(Mask mask, std::vector<Copy>* ended) {
  wait(mask, 0, ended);
  finish_lanes(open_, mask, ended);
}

Effect find_async_copy(std::uint32_t bytes) {
  switch (bytes) {
    case 4:
      return &start_copies<4>;
    case 8:
      return &start_copies<8>;
    case 16:
      return &start_copies<16>;
    default:
      return nullptr;
  }
}

void commit_async_copies(Warp& warp, const Step&, Mask mask) { warp.async_copies().commit(mask); }

void wait_for_async_groups(Warp& warp, const Step& step, Mask mask) {
  std::vector<AsyncCopies::Copy> ended;
  warp.async_copies().wait(mask, step.target, warp.block().observer ? &ended : nullptr);
  show_ended(warp, ended);
}

void wait_for_async_copies(Warp& warp, const Step&, Mask mask) {
  std::vector<AsyncCopies::Copy> ended;
  warp.async_copies().wait_for_all(mask, warp.block().observer ? &ended : nullptr);
  show_ended(warp, ended);
}

}  // namespace cudal1::vgpu
