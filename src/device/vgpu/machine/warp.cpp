#include "device/vgpu/machine/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cudal1::vgpu {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

Index3 thread_index(std::uint32_t linear, const Index3& block) {
  return {linear % block[0], linear / block[0] % block[1], linear / (block[0] * block[1])};
}

}  // namespace

Warp::Warp(BlockState& block, std::uint32_t first_thread)
    : block_(block),
      first_thread_(first_thread),
      registers_(block.kernel->registers->bytes()),
      local_(block.kernel->local_bytes * warp_size) {
  const std::uint32_t threads = block.block[0] * block.block[1] * block.block[2];
  const std::uint32_t mine = std::min<std::uint32_t>(warp_size, threads - first_thread);
  groups_.push_back({0, mine == warp_size ? full_mask : (Mask{1} << mine) - 1, std::nullopt});
  block.kernel->registers->fill_constants(registers_);
  set_special_registers(first_thread);
}

void Warp::set_special_registers(std::uint32_t first_thread) {
  for (std::size_t i = 0; i < block_.kernel->special.size(); ++i) {
    const Slot slot = block_.kernel->special[i];
    if (slot == 0) continue;
    auto* words = registers_.words<std::uint32_t>(slot);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const Index3 thread = thread_index(first_thread + lane, block_.block);
      const std::uint32_t values[] = {thread[0],
                                      thread[1],
                                      thread[2],
                                      block_.block[0],
                                      block_.block[1],
                                      block_.block[2],
                                      block_.index[0],
                                      block_.index[1],
                                      block_.index[2],
                                      block_.grid[0],
                                      block_.grid[1],
                                      block_.grid[2],
                                      lane,
                                      first_thread / warp_size};
      words[lane] = values[i];
    }
  }
}

Index3 Warp::thread_at(int lane) const {
  return thread_index(first_thread_ + static_cast<std::uint32_t>(lane), block_.block);
}

void Warp::fail(FaultKind kind, const std::string& message, int lane, const Step& step) const {
  throw KernelFault(kind, message, step.at, block_.index, thread_at(lane));
}

void Warp::fail_waiting() const {
  const Group& group = groups_.front();
  const Step& step = block_.kernel->steps[group.pc - 1];
  fail(FaultKind::deadlock,
       fmt::format("{} threads of the block wait at barrier {} for others that never come", std::popcount(group.mask),
                   group.barrier.value_or(0)),
       std::countr_zero(group.mask), step);
}

//! The group with the smallest program counter among those that do not wait; groups that met become one.
std::size_t Warp::next_group() {
  std::size_t best = groups_.size();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].barrier) continue;
    if (best == groups_.size() || groups_[i].pc < groups_[best].pc) {
      best = i;
    } else if (groups_[i].pc == groups_[best].pc) {
      groups_[best].mask |= groups_[i].mask;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }
  return best;
}

std::uint32_t Warp::other_pc(std::size_t running) const {
  std::uint32_t smallest = nowhere;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (i != running && !groups_[i].barrier) smallest = std::min(smallest, groups_[i].pc);
  return smallest;
}

void Warp::run() {
  for (std::size_t index = next_group(); index < groups_.size(); index = next_group()) run_group(index);
}

//! Until it meets or passes another group, waits, splits or ends.
void Warp::run_group(std::size_t index) {
  const std::uint32_t limit = other_pc(index);
  const std::size_t groups = groups_.size();
  while (step_once(groups_[index]) && groups_.size() == groups && groups_[index].pc < limit) {
  }
  std::erase_if(groups_, [](const Group& group) { return group.mask == 0; });
}

//! False when the group has ended or waits.
bool Warp::step_once(Group& group) {
  const Step& step = block_.kernel->steps[group.pc];
  if (block_.instructions_left-- == 0)
    fail(FaultKind::too_many_instructions, "the kernel does not end", std::countr_zero(group.mask), step);
  Mask mask = group.mask;
  if (step.guard != 0) {
    const Mask guard = registers_.predicate(step.guard);
    mask &= step.guard_negated ? ~guard : guard;
  }
  switch (step.flow) {
    case Flow::compute:
      if (mask != 0) step.operation.run(registers_, step.operation, mask);
      break;
    case Flow::effect:
      if (mask != 0) step.effect(*this, step, mask);
      break;
    case Flow::branch:
      branch(group, mask, step.target);
      return true;
    case Flow::exit:
      group.mask &= ~mask;
      break;
    case Flow::barrier:
      wait(group, mask, step.barrier);
      return false;
  }
  ++group.pc;
  return group.mask != 0 && !group.barrier;
}

void Warp::branch(Group& group, Mask taken, std::uint32_t target) {
  if (taken == group.mask) {
    group.pc = target;
    return;
  }
  ++group.pc;
  if (taken == 0) return;
  group.mask &= ~taken;
  groups_.push_back({target, taken, std::nullopt});  // `group` may be gone after this
}

//! Lanes that the guard leaves out go on.
void Warp::wait(Group& group, Mask mask, int barrier) {
  const std::uint32_t next = ++group.pc;
  if (mask == group.mask) {
    group.barrier = barrier;
  } else if (mask != 0) {
    group.mask &= ~mask;
    groups_.push_back({next, mask, barrier});  // `group` may be gone after this
  }
}

int Warp::waiting_at(int barrier) const {
  int threads = 0;
  for (const Group& group : groups_) threads += group.barrier == barrier ? std::popcount(group.mask) : 0;
  return threads;
}

void Warp::release(int barrier) {
  for (Group& group : groups_)
    if (group.barrier == barrier) group.barrier.reset();
}

int Warp::live_threads() const {
  int threads = 0;
  for (const Group& group : groups_) threads += std::popcount(group.mask);
  return threads;
}

void Warp::check_alignment(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) const {
  if (address % bytes == 0) return;
  fail(FaultKind::misaligned, fmt::format("an access of {} bytes at address {:#x}", bytes, address), lane, step);
}

std::byte* Warp::global(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step) {
  check_alignment(address, bytes, lane, step);
  const Segment* segment = block_.global->find(address, bytes);
  if (!segment || (write && !segment->writable))
    fail(FaultKind::out_of_bounds,
         fmt::format("{} {} bytes at {}", write ? "writes" : "reads", bytes, block_.global->describe(address)), lane,
         step);
  return segment->host + (address - segment->begin);
}

std::byte* Warp::shared(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) {
  check_alignment(address, bytes, lane, step);
  if (address >= block_.shared.size() || bytes > block_.shared.size() - address)
    fail(FaultKind::out_of_bounds, fmt::format("byte {} of shared memory, which has {}", address, block_.shared.size()),
         lane, step);
  return block_.shared.data() + address;
}

std::byte* Warp::local(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) {
  check_alignment(address, bytes, lane, step);
  const std::uint64_t size = block_.kernel->local_bytes;
  if (address >= size || bytes > size - address)
    fail(FaultKind::out_of_bounds, fmt::format("byte {} of local memory, which has {}", address, size), lane, step);
  return local_.data() + static_cast<std::uint64_t>(lane) * size + address;
}

std::byte* Warp::generic(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step) {
  if (address >= shared_window) return shared(address - shared_window, bytes, lane, step);
  if (address >= local_window) return local(address - local_window, bytes, lane, step);
  return global(address, bytes, write, lane, step);
}

}  // namespace cudal1::vgpu
