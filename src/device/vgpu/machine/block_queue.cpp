#include "device/vgpu/machine/block_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace cudal1::vgpu {
namespace {

//! The first, the last, and others by the seed; in order. Empty: all.
std::vector<std::uint64_t> sampled_blocks(const Launch& launch) {
  const std::uint64_t blocks = count_of<std::uint64_t>(launch.grid);
  if (launch.sample == 0 || launch.sample >= blocks) return {};
  std::set<std::uint64_t> chosen{0};
  if (launch.sample > 1) chosen.insert(blocks - 1);
  std::mt19937_64 random(launch.sample_seed);
  while (chosen.size() < launch.sample) chosen.insert(random() % blocks);
  return {chosen.begin(), chosen.end()};
}

std::uint64_t size_of(const BlockQueue::Places& places) { return places.end - places.next; }

}  // namespace

BlockQueue::BlockQueue(const Launch& launch)
    : launch_(launch),
      sample_(sampled_blocks(launch)),
      count_(sample_.empty() ? count_of<std::uint64_t>(launch.grid) : sample_.size()),
      stop_(count_) {}

void BlockQueue::share_among(std::uint64_t threads) {
  const std::uint64_t each = count_ / threads, more = count_ % threads;  // the first ones get one more
  for (std::uint64_t i = 0; i < threads; ++i)
    parts_.emplace_back().left = {i * each + std::min(i, more), (i + 1) * each + std::min(i + 1, more)};
}

std::optional<std::uint64_t> BlockQueue::next(std::size_t thread, Places& taken) {
  if (taken.next == taken.end || taken.next >= stop_) {
    Part& own = parts_[thread];
    do {
      taken = take(own);
    } while (size_of(taken) == 0 && take_over(own));
  }
  if (size_of(taken) == 0) return std::nullopt;
  return taken.next++;
}

//! A few at a time, fewer towards the end, since others may want some of the rest.
BlockQueue::Places BlockQueue::take(Part& part) {
  const std::lock_guard lock(part.mutex);
  Places& left = part.left;
  left.end = std::max(left.next, std::min<std::uint64_t>(left.end, stop_));
  const std::uint64_t begin = left.next;
  left.next += std::min(size_of(left), std::clamp<std::uint64_t>(size_of(left) / 16, 1, 64));
  return {begin, left.next};
}

//! The second half of what another has left; false where nobody has anything.
bool BlockQueue::take_over(Part& own) {
  for (Part& other : parts_) {
    if (&other == &own) continue;
    Places half;
    {
      const std::lock_guard lock(other.mutex);
      other.left.end = std::max(other.left.next, std::min<std::uint64_t>(other.left.end, stop_));
      half = {other.left.next + size_of(other.left) / 2, other.left.end};
      other.left.end = half.next;
    }
    if (size_of(half) == 0) continue;
    const std::lock_guard lock(own.mutex);
    own.left = half;
    return true;
  }
  return false;
}

Index3 BlockQueue::block_at(std::uint64_t place) const {
  return index_in(sample_.empty() ? place : sample_[place], launch_.grid);
}

void BlockQueue::fail(std::uint64_t place, std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (place >= stop_) return;
  stop_ = place;
  failure_ = std::move(failure);
}

void BlockQueue::finish(std::uint64_t place, std::uint64_t instructions) {
  if (instructions_.fetch_add(instructions) + instructions <= launch_.most_instructions) return;
  fail(place, std::make_exception_ptr(
                  KernelFault(FaultKind::too_many_instructions,
                              fmt::format("the launch takes more than {} warp instructions", launch_.most_instructions),
                              launch_.kernel->steps.back().at, block_at(place), {0, 0, 0})));
}

void BlockQueue::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace cudal1::vgpu
