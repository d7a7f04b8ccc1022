#include "device/vgpu/machine/tally.hpp"

#include <algorithm>
#include <cmath>

#include "device/vgpu/machine/machine_counts.hpp"

namespace cudal1::vgpu {
namespace {

void add_to(Traffic& sum, const Traffic& more) {
  sum.requests += more.requests;
  sum.sectors += more.sectors;
  sum.bytes_wanted += more.bytes_wanted;
  sum.lines += more.lines;
  sum.passes += more.passes;
}

//! Lines among sectors that come in order.
class LineCount {
 public:
  void add(std::uint64_t first_sector, std::uint64_t sectors) {
    const std::uint64_t first = first_sector / in_a_line, last = (first_sector + sectors - 1) / in_a_line;
    count_ += last - first + (first == last_ ? 0 : 1);
    last_ = last;
  }
  std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint64_t in_a_line = 128 / sector_bytes;
  std::uint64_t count_ = 0, last_ = ~std::uint64_t{0};
};

//! A segment need not begin with a sector.
std::uint64_t first_sector_of(const Segment& segment) { return segment.begin / sector_bytes; }

//! Over the banks of the first-level cache; one a lane where they lie too far apart.
std::uint64_t passes_of(const WarpAccess& access) {
  AccessPattern pattern;
  if (!learn(pattern, access.addresses->data(), access.mask, access.bytes))
    return static_cast<std::uint64_t>(lanes_in(access.mask));
  count_shared_passes(pattern, (*access.addresses)[static_cast<std::size_t>(std::countr_zero(access.mask))]);
  return pattern.shared_passes;
}

std::vector<std::uint64_t> first_sectors(const GlobalMemory& memory) {
  std::vector<std::uint64_t> firsts;
  for (const Segment& segment : memory.segments()) firsts.push_back(first_sector_of(segment));
  return firsts;
}

std::vector<std::uint64_t> sector_counts(const GlobalMemory& memory) {
  std::vector<std::uint64_t> counts;
  for (const Segment& segment : memory.segments())
    counts.push_back((segment.begin + segment.bytes + sector_bytes - 1) / sector_bytes - first_sector_of(segment));
  return counts;
}

std::vector<SectorMap> sector_maps(const GlobalMemory& memory) {
  std::vector<SectorMap> maps;
  for (const std::uint64_t sectors : sector_counts(memory)) maps.emplace_back(sectors);
  return maps;
}

template <class Count>
std::uint64_t sum_over(const std::vector<SectorMap>& maps, Count count) {
  std::uint64_t sum = 0;
  for (const SectorMap& map : maps) sum += (map.*count)();
  return sum;
}

}  // namespace

Tally::Tally(const Kernel& kernel, const GlobalMemory& memory)
    : kernel_(&kernel),
      memory_(&memory),
      changes_(kernel.steps.size() + 1),
      first_sectors_(first_sectors(memory)),
      read_(sector_maps(memory)),
      written_(sector_maps(memory)),
      block_reads_(sector_counts(memory)) {}

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
  const std::uint64_t first = first_sector - first_sectors_[segment];
  if (kind == AccessKind::read && block_reads_.watching()) block_reads_.read(segment, first, count);
  if (kind != AccessKind::write) read_[segment].mark(first, count);
  if (kind != AccessKind::read) written_[segment].mark(first, count);
}

void Tally::global_in_runs(AccessPattern& pattern, std::uint64_t first, AccessKind kind) {
  if (pattern.sectors == 0 || pattern.sector_phase != first % sector_bytes) count_sectors(pattern, first);
  Traffic& traffic = traffic_of(kind);
  traffic.requests += 1;
  traffic.sectors += pattern.sectors;
  traffic.bytes_wanted += pattern.lanes * pattern.bytes;
  LineCount lines;
  for (std::size_t i = 0; i < pattern.sector_runs; ++i) {
    const auto begin = static_cast<std::uint64_t>(std::int64_t{pattern.runs[i].begin});
    const std::uint64_t sector = first / sector_bytes + begin;
    mark(pattern.segment_index, sector, pattern.runs[i].count, kind);
    lines.add(sector, pattern.runs[i].count);
  }
  traffic.lines += lines.count();
  if (kind == AccessKind::atomic) note_atomic(pattern, first);
  if (pattern.shared_passes == 0 || pattern.word_phase != first % 4) count_shared_passes(pattern, first);
  if (kind == AccessKind::read) traffic.passes += pattern.shared_passes;
}

void Tally::note_atomic(const AccessPattern& pattern, std::uint64_t first) {
  std::array<std::uint64_t, warp_size> addresses;
  std::size_t count = 0;
  for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
    const std::int64_t delta = pattern.deltas[static_cast<std::size_t>(std::countr_zero(rest))];
    addresses[count++] = first + static_cast<std::uint64_t>(delta);
  }
  atomic_places_.note(first, atomic_passes(addresses.data(), count));
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
  if (access.kind == AccessKind::atomic) note_scattered_atomic(access);
  if (access.kind == AccessKind::read) traffic.passes += passes_of(access);
  traffic.requests += 1;
  traffic.bytes_wanted += count * access.bytes;
  count = sort_and_unite(sectors.data(), count);
  traffic.sectors += count;
  LineCount lines;
  for (std::size_t i = 0; i < count; ++i) lines.add(sectors[i], 1);
  traffic.lines += lines.count();
}

void Tally::note_scattered_atomic(const WarpAccess& access) {
  std::array<std::uint64_t, warp_size> addresses;
  std::size_t count = 0;
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1)
    addresses[count++] = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
  for (std::size_t i = 0; i < count; ++i) atomic_places_.note(addresses[i], 1);
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

void Tally::constant(const WarpAccess& access) {
  AccessPattern pattern;
  if (learn(pattern, access.addresses->data(), access.mask, access.bytes)) constant(pattern);
}

void Tally::take(Tally& other) {
  counters_.blocks += other.counters_.blocks;
  counters_.divergent_branches += other.counters_.divergent_branches;
  counters_.shared_requests += other.counters_.shared_requests;
  counters_.shared_passes += other.counters_.shared_passes;
  counters_.constant_passes += other.counters_.constant_passes;
  counters_.shared_quad_passes += other.counters_.shared_quad_passes;
  add_to(counters_.global_loads, other.counters_.global_loads);
  add_to(counters_.global_stores, other.counters_.global_stores);
  add_to(counters_.global_atomics, other.counters_.global_atomics);
  add_to(counters_.local_accesses, other.counters_.local_accesses);
  block_reads_.add(other.block_reads_);
  atomic_places_.add(other.atomic_places_);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].whole_visits += other.changes_[i].whole_visits;
    changes_[i].other_visits += other.changes_[i].other_visits;
    changes_[i].other_lanes += other.changes_[i].other_lanes;
  }
  lanes_left_out_ += other.lanes_left_out_;
  for (std::size_t segment = 0; segment < read_.size(); ++segment) {
    read_[segment].add(other.read_[segment]);
    written_[segment].add(other.written_[segment]);
  }
}

//! What was seen of some blocks, for all of them.
void Tally::add_block_reads(KernelCounters& sum) const {
  if (block_reads_.asked() == 0) return;
  const double bytes = static_cast<double>(sum.global_loads.sectors) * sector_bytes;
  const auto share = [&](std::uint64_t sectors) {
    const double part = static_cast<double>(sectors) / static_cast<double>(block_reads_.asked());
    return static_cast<std::uint64_t>(std::llround(bytes * part));
  };
  sum.block_bytes_read = share(block_reads_.distinct());
  sum.bytes_read_again = share(block_reads_.repeated_soon());
}

KernelCounters Tally::counters() const {
  KernelCounters sum = counters_;
  std::int64_t visits = 0, lanes = 0;
  std::vector<std::uint64_t> times_at(kernel_->steps.size());
  for (std::size_t i = 0; i < kernel_->steps.size(); ++i) {
    const Step& step = kernel_->steps[i];
    visits += changes_[i].visits();
    lanes += changes_[i].lanes();
    const auto times = static_cast<std::uint64_t>(visits);
    sum.instructions[static_cast<std::size_t>(step.pipe)] += times;
    times_at[i] = times;
    sum.lanes += static_cast<std::uint64_t>(lanes);
    sum.tensor_products += times * step.tensor_products;
    if (step.flow == Flow::branch) sum.branches += times;
    if (step.flow == Flow::barrier) sum.barriers += times;
  }
  sum.lanes -= lanes_left_out_;
  count_machine_code(kernel_->code, times_at, sum);
  add_block_reads(sum);
  sum.busiest_atomics = atomic_places_.busiest();
  sum.distinct_bytes_read = sum_over(read_, &SectorMap::marked) * sector_bytes;
  sum.distinct_bytes_fetched = sum_over(read_, &SectorMap::marked_pairs) * 2 * sector_bytes;
  sum.distinct_bytes_written = sum_over(written_, &SectorMap::marked) * sector_bytes;
  return sum;
}

}  // namespace cudal1::vgpu
