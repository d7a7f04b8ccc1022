#include "device/vgpu/machine/tally.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

void add_to(Traffic& sum, const Traffic& more) {
  sum.requests += more.requests;
  sum.sectors += more.sectors;
  sum.bytes_wanted += more.bytes_wanted;
}

std::uint64_t bytes_marked(const std::vector<std::vector<std::uint64_t>>& segments) {
  std::uint64_t sectors = 0;
  for (const auto& words : segments)
    for (const std::uint64_t word : words) sectors += static_cast<std::uint64_t>(std::popcount(word));
  return sectors * sector_bytes;
}

//! A segment need not begin with a sector.
std::uint64_t first_sector_of(const Segment& segment) { return segment.begin / sector_bytes; }

std::vector<std::vector<std::uint64_t>> sector_maps(const GlobalMemory& memory) {
  std::vector<std::vector<std::uint64_t>> maps;
  for (const Segment& segment : memory.segments()) {
    const std::uint64_t end = (segment.begin + segment.bytes + sector_bytes - 1) / sector_bytes;
    maps.emplace_back((end - first_sector_of(segment) + 63) / 64);
  }
  return maps;
}

}  // namespace

Tally::Tally(const Kernel& kernel, const GlobalMemory& memory)
    : kernel_(&kernel),
      memory_(&memory),
      changes_(kernel.steps.size() + 1),
      read_(sector_maps(memory)),
      written_(sector_maps(memory)) {}

Traffic& Tally::traffic_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return counters_.global_loads;
    case AccessKind::write:
      return counters_.global_stores;
    case AccessKind::atomic:
      return counters_.global_atomics;
  }
  return counters_.global_loads;
}

void Tally::mark(std::size_t segment, std::uint64_t first_sector, std::uint64_t count, AccessKind kind) {
  const std::uint64_t first = first_sector - first_sector_of(memory_->segments()[segment]);
  if (kind != AccessKind::write) mark(read_[segment], first, count);
  if (kind != AccessKind::read) mark(written_[segment], first, count);
}

void Tally::global(AccessPattern& pattern, std::uint64_t first, AccessKind kind) {
  if (pattern.sectors == 0 || pattern.sector_phase != first % sector_bytes) count_sectors(pattern, first);
  Traffic& traffic = traffic_of(kind);
  traffic.requests += 1;
  traffic.sectors += pattern.sectors;
  traffic.bytes_wanted += pattern.lanes * pattern.bytes;
  for (std::size_t i = 0; i < pattern.sector_runs; ++i) {
    const auto begin = static_cast<std::uint64_t>(std::int64_t{pattern.runs[i].begin});
    mark(pattern.segment_index, first / sector_bytes + begin, pattern.runs[i].count, kind);
  }
}

void Tally::global(const WarpAccess& access) {
  Traffic& traffic = traffic_of(access.kind);
  std::array<std::uint64_t, warp_size> sectors;
  std::size_t count = 0;
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    sectors[count++] = address / sector_bytes;
    if (const Segment* segment = memory_->find(address, access.bytes))
      mark(memory_->index_of(*segment), address / sector_bytes, 1, access.kind);
  }
  traffic.requests += 1;
  traffic.bytes_wanted += count * access.bytes;
  traffic.sectors += sort_and_unite(sectors.data(), count);
}

void Tally::shared(const WarpAccess& access) {
  AccessPattern pattern;
  learn(pattern, access.addresses->data(), access.mask, access.bytes);
  shared(pattern, (*access.addresses)[static_cast<std::size_t>(std::countr_zero(access.mask))]);
}

void Tally::local(const WarpAccess& access) {
  counters_.local_accesses.requests += 1;
  counters_.local_accesses.sectors += local_sectors(*access.addresses, access.mask, access.bytes);
  counters_.local_accesses.bytes_wanted += static_cast<std::uint64_t>(lanes_in(access.mask)) * access.bytes;
}

void Tally::add(const Tally& other) {
  counters_.blocks += other.counters_.blocks;
  counters_.divergent_branches += other.counters_.divergent_branches;
  counters_.shared_requests += other.counters_.shared_requests;
  counters_.shared_passes += other.counters_.shared_passes;
  add_to(counters_.global_loads, other.counters_.global_loads);
  add_to(counters_.global_stores, other.counters_.global_stores);
  add_to(counters_.global_atomics, other.counters_.global_atomics);
  add_to(counters_.local_accesses, other.counters_.local_accesses);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].visits += other.changes_[i].visits;
    changes_[i].lanes += other.changes_[i].lanes;
  }
  lanes_left_out_ += other.lanes_left_out_;
  for (std::size_t segment = 0; segment < read_.size(); ++segment)
    for (std::size_t i = 0; i < read_[segment].size(); ++i) {
      read_[segment][i] |= other.read_[segment][i];
      written_[segment][i] |= other.written_[segment][i];
    }
}

KernelCounters Tally::counters() const {
  KernelCounters sum = counters_;
  std::int64_t visits = 0, lanes = 0;
  for (std::size_t i = 0; i < kernel_->steps.size(); ++i) {
    const Step& step = kernel_->steps[i];
    visits += changes_[i].visits;
    lanes += changes_[i].lanes;
    const auto times = static_cast<std::uint64_t>(visits);
    sum.instructions[static_cast<std::size_t>(step.pipe)] += times;
    sum.lanes += static_cast<std::uint64_t>(lanes);
    sum.tensor_products += times * step.tensor_products;
    if (step.flow == Flow::branch) sum.branches += times;
    if (step.flow == Flow::barrier) sum.barriers += times;
  }
  sum.lanes -= lanes_left_out_;
  sum.distinct_bytes_read = bytes_marked(read_);
  sum.distinct_bytes_written = bytes_marked(written_);
  return sum;
}

}  // namespace cudal1::vgpu
