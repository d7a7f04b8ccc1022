#include "host_device/block_scheduler.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using cudal1_host::BarrierResult;
using cudal1_host::Services;
using cudal1_host::WarpResult;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t stack_bytes = 128 * 1024;
constexpr std::size_t stride_bytes = stack_bytes + page_bytes;
constexpr int poison_byte = 0xFF;  // a NaN in every floating type

//! Pieces of `piece_bytes`, with a page that faults before, between and after them.
std::byte* map_guarded(std::size_t count, std::size_t piece_bytes) {
  const std::size_t total_bytes = count * (piece_bytes + page_bytes) + page_bytes;
  void* memory = mmap(nullptr, total_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool usable = memory != MAP_FAILED;
  std::byte* first = static_cast<std::byte*>(memory) + page_bytes;
  for (std::size_t i = 0; usable && i < count; ++i)
    usable = mprotect(first + i * (piece_bytes + page_bytes), piece_bytes, PROT_READ | PROT_WRITE) == 0;
  if (!usable) throw Error("host device: no memory for the threads of a block");
  return first;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

template <class Visit>
void for_each_lane(unsigned lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

}  // namespace

BlockScheduler& BlockScheduler::instance() {
  static BlockScheduler scheduler;
  return scheduler;
}

const Services& BlockScheduler::services() {
  static const Services table{
      &instance().state_,
      [](int predicate) { return instance().barrier(predicate); },
      [](unsigned mask, std::uint64_t value, int source_lane) { return instance().warp(mask, value, source_lane); },
      [](const void* call_site) { return instance().active_lanes(call_site); },
      [] { instance().give_way(); },
      [] { _exit(fault_exit_code); },
  };
  return table;
}

BlockScheduler::BlockScheduler()
    : threads_(std::make_unique<Thread[]>(max_threads)), fibers_(std::make_unique<Fiber[]>(max_threads)) {
  std::byte* stacks = map_guarded(max_threads, stack_bytes);
  for (int i = max_threads - 1; i >= 0; --i) {
    // Stacks that began at the same place of their page would fight for the same lines of the cache.
    const std::size_t colour_bytes = static_cast<std::size_t>(i % 16) * 256;
    fibers_[i].start(stacks + i * stride_bytes, stack_bytes - colour_bytes, &fiber_main);
    idle_fibers_.push_back(i);
  }
  const std::size_t shared_bytes = round_up(max_shared_bytes, page_bytes);
  shared_end_ = map_guarded(1, shared_bytes) + shared_bytes;
}

void BlockScheduler::run(const HostLaunch& launch) {
  launch_ = launch;
  thread_count_ = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  state_.block_dim = launch.block;
  state_.grid_dim = launch.grid;
  auto& [x, y, z] = state_.block;
  for (z = 0; z < launch.grid.z; ++z)
    for (y = 0; y < launch.grid.y; ++y)
      for (x = 0; x < launch.grid.x; ++x) run_block();
}

void BlockScheduler::run_block() {
  const std::size_t shared_bytes = round_up(launch_.shared_bytes, 16);
  state_.dynamic_shared = shared_end_ - shared_bytes;
  std::memset(state_.dynamic_shared, poison_byte, shared_bytes);
  std::fill(launch_.static_shared.begin(), launch_.static_shared.end(), std::byte{poison_byte});
  live_threads_ = thread_count_;
  started_threads_ = 0;
  barrier_ = {};
  for (int warp_index = 0; warp_index * lanes_per_warp < thread_count_; ++warp_index) {
    const int lanes = std::min(lanes_per_warp, thread_count_ - warp_index * lanes_per_warp);
    live_lanes_[warp_index] = ~0u >> (lanes_per_warp - lanes);
  }
  run_threads();
}

void BlockScheduler::run_threads() {
  while (live_threads_ > 0) {
    // Whoever can go on goes first: a warp then stays in the cache from one shuffle to the next.
    if (ready_count_ == 0 && started_threads_ < thread_count_) {
      const int fiber = idle_fibers_.back();
      idle_fibers_.pop_back();
      switch_to_fiber(fiber);
      continue;
    }
    if (ready_count_ == 0 && !release_active_lanes())
      for (;;) pause();  // threads wait for each other forever; a GPU hangs as well, and the watchdog ends both
    become(ready_[ready_head_]);
    ready_head_ = (ready_head_ + 1) % max_threads;
    --ready_count_;
    switch_to_fiber(threads_[current_].fiber);
  }
}

void BlockScheduler::become(int thread) {
  const auto linear = static_cast<unsigned>(thread);
  const auto& block = launch_.block;
  current_ = thread;
  state_.thread = {linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)};
  state_.lane = thread % lanes_per_warp;
}

void BlockScheduler::switch_to_fiber(int fiber) {
  running_fiber_ = fiber;
  Fiber::switch_between(scheduler_, fibers_[fiber]);
}

void BlockScheduler::suspend() {
  threads_[current_].fiber = running_fiber_;
  Fiber::switch_between(fibers_[running_fiber_], scheduler_);
}

void BlockScheduler::fiber_main() {
  BlockScheduler& scheduler = instance();
  for (;;) {
    scheduler.start_threads();
    const int fiber = scheduler.running_fiber_;
    scheduler.idle_fibers_.push_back(fiber);
    Fiber::switch_between(scheduler.fibers_[fiber], scheduler.scheduler_);
  }
}

//! Runs threads until all have started. A thread that waits comes back from invoke() when it was resumed.
void BlockScheduler::start_threads() {
  while (started_threads_ < thread_count_) {
    become(started_threads_++);
    threads_[current_].waits = Waits::nothing;
    launch_.kernel->invoke(launch_.arguments);
    exit_thread();
  }
}

void BlockScheduler::make_ready(int thread) {
  threads_[thread].waits = Waits::nothing;
  ready_[(ready_head_ + ready_count_) % max_threads] = thread;
  ++ready_count_;
}

void BlockScheduler::exit_thread() {
  const int warp_index = warp_of_current();
  threads_[current_].waits = Waits::exited;
  --live_threads_;
  live_lanes_[warp_index] &= ~(1u << state_.lane);
  release_barrier_if_complete();
  // Lanes that waited for this one as well may go on without it.
  for_each_lane(lanes_in_warp_operation_[warp_index], [&](int waiting) {
    // An earlier turn of this loop may have released it.
    if (lane(warp_index, waiting).waits == Waits::warp)
      release_lanes_if_complete(warp_index, lane(warp_index, waiting).mask);
  });
}

BarrierResult BlockScheduler::barrier(int predicate) {
  Thread& self = threads_[current_];
  self.waits = Waits::barrier;
  ++barrier_.arrived;
  barrier_.nonzero += predicate != 0;
  release_barrier_if_complete();
  suspend();
  return self.barrier_result;
}

void BlockScheduler::release_barrier_if_complete() {
  if (barrier_.arrived == 0 || barrier_.arrived < live_threads_) return;
  for (int i = 0; i < thread_count_; ++i) {
    if (threads_[i].waits != Waits::barrier) continue;
    threads_[i].barrier_result = barrier_;
    make_ready(i);
  }
  barrier_ = {};
}

WarpResult BlockScheduler::warp(unsigned mask, std::uint64_t value, int source_lane) {
  Thread& self = threads_[current_];
  self.waits = Waits::warp;
  lanes_in_warp_operation_[warp_of_current()] |= 1u << state_.lane;
  self.mask = mask | 1u << state_.lane;
  self.value = value;
  self.source_lane = source_lane;
  release_lanes_if_complete(warp_of_current(), self.mask);
  suspend();
  return self.warp_result;
}

void BlockScheduler::release_lanes_if_complete(int warp_index, unsigned mask) {
  const unsigned members = mask & live_lanes_[warp_index];
  if (members == 0 || (members & ~lanes_in_warp_operation_[warp_index]) != 0) return;
  unsigned ballot = 0;
  for (unsigned rest = members; rest != 0; rest &= rest - 1) {
    const Thread& member = lane(warp_index, std::countr_zero(rest));
    if (member.mask != mask) return;
    if (member.value != 0) ballot |= rest & -rest;
  }
  lanes_in_warp_operation_[warp_index] &= ~members;
  for_each_lane(members, [&](int index) {
    Thread& member = lane(warp_index, index);
    const bool source_takes_part =
        member.source_lane >= 0 && member.source_lane < lanes_per_warp && (members >> member.source_lane & 1) != 0;
    const int source = source_takes_part ? member.source_lane : index;
    member.warp_result = {lane(warp_index, source).value, ballot, members};
    make_ready(warp_index * lanes_per_warp + index);
  });
}

unsigned BlockScheduler::lanes_at_active_mask(int warp_index) const {
  unsigned lanes = 0;
  for_each_lane(live_lanes_[warp_index], [&](int index) {
    if (threads_[warp_index * lanes_per_warp + index].waits == Waits::active_lanes) lanes |= 1u << index;
  });
  return lanes;
}

unsigned BlockScheduler::active_lanes(const void* call_site) {
  Thread& self = threads_[current_];
  self.waits = Waits::active_lanes;
  self.call_site = call_site;
  suspend();
  return self.active_lanes;
}

bool BlockScheduler::release_active_lanes() {
  for (int warp_index = 0; warp_index * lanes_per_warp < thread_count_; ++warp_index) {
    const unsigned waiting = lanes_at_active_mask(warp_index);
    for_each_lane(waiting, [&](int index) {
      unsigned together = 0;
      for_each_lane(waiting, [&](int other) {
        if (lane(warp_index, other).call_site == lane(warp_index, index).call_site) together |= 1u << other;
      });
      lane(warp_index, index).active_lanes = together;
      make_ready(warp_index * lanes_per_warp + index);
    });
  }
  return ready_count_ > 0;
}

void BlockScheduler::give_way() {
  make_ready(current_);
  suspend();
}

}  // namespace cudal1
