// Counts while blocks run; one for each host thread.
#pragma once

#include <algorithm>
#include <vector>

#include "device/vgpu/machine/access_pattern.hpp"
#include "device/vgpu/machine/atomic_places.hpp"
#include "device/vgpu/machine/block_reads.hpp"
#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/sector_map.hpp"
#include "device/vgpu/machine/step.hpp"
#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

class Tally {
 public:
  Tally(const Kernel& kernel, const GlobalMemory& memory);

  // Steps are counted by stretches: what runs from here on, and no further than there.
  void enter(std::uint32_t step, Mask lanes) { change(step, lanes, 1); }
  void leave(std::uint32_t step, Mask lanes) { change(step, lanes, -1); }
  //! Lanes that a guard left out of a step.
  void leave_out(Mask lanes) { lanes_left_out_ += static_cast<std::uint64_t>(lanes_in(lanes)); }
  void diverge() { ++counters_.divergent_branches; }
  //! `watched`: what it reads twice is counted, which takes longer.
  void begin_block(bool watched) { block_reads_.begin_block(watched); }
  bool is_watching() const { return block_reads_.watching(); }
  void end_block() {
    ++counters_.blocks;
    block_reads_.end_block();
  }

  //! `first`: the address of the first lane. The pattern's segment is set for global memory.
  void global(AccessPattern& pattern, std::uint64_t first, AccessKind kind) {
    const bool counted = pattern.sectors != 0 && pattern.sector_phase == first % sector_bytes &&
                         pattern.shared_passes != 0 && pattern.word_phase == first % 4;
    if (!counted || pattern.sector_runs != 1 || kind == AccessKind::atomic || block_reads_.watching())
      return global_in_runs(pattern, first, kind);
    global_again(pattern, first, kind);
  }
  //! Its sectors, which are one run, and its passes have been counted before. Not for atomics, nor while watching.
  void global_again(const AccessPattern& pattern, std::uint64_t first, AccessKind kind) {
    const auto begin = static_cast<std::uint64_t>(std::int64_t{pattern.runs[0].begin});
    const std::uint64_t sector = first / sector_bytes + begin, last = sector + pattern.runs[0].count - 1;
    Traffic& traffic = kind == AccessKind::read ? counters_.global_loads : counters_.global_stores;
    traffic.requests += 1;
    traffic.sectors += pattern.sectors;
    traffic.bytes_wanted += pattern.lanes * pattern.bytes;
    traffic.lines += last / sectors_in_line - sector / sectors_in_line + 1;
    if (kind == AccessKind::read) traffic.passes += pattern.shared_passes;
    (kind == AccessKind::read ? read_ : written_)[pattern.segment_index].mark(
        sector - first_sectors_[pattern.segment_index], pattern.runs[0].count);
  }
  void shared(AccessPattern& pattern, std::uint64_t first) {
    if (pattern.shared_passes == 0 || pattern.word_phase != first % 4) count_shared_passes(pattern, first);
    shared_again(pattern);
  }
  //! Its passes have been counted before.
  void shared_again(const AccessPattern& pattern) {
    counters_.shared_requests += 1;
    counters_.shared_passes += pattern.shared_passes;
    counters_.shared_quad_passes += pattern.shared_quad_passes;
  }

  //! All lanes at one address take what an operand would.
  void constant(const AccessPattern& pattern) {
    if (pattern.shape != LaneShape::same) counters_.constant_passes += constant_addresses(pattern);
  }

  // The same without a pattern, for instructions that have none, and for lanes that go far apart.
  void global(const WarpAccess& access);
  void shared(const WarpAccess& access);
  void local(const WarpAccess& access);
  void constant(const WarpAccess& access);

  //! Adds what the other has counted, which is then of no more use.
  void take(Tally& other);
  //! What all this comes to.
  KernelCounters counters() const;

 private:
  static constexpr std::uint64_t sectors_in_line = 128 / sector_bytes;

  void change(std::uint32_t step, Mask lanes, int sign) {
    Change& change = changes_[step];
    if (lanes == full_mask) {
      change.whole_visits += sign;
    } else {
      change.other_visits += sign;
      change.other_lanes += sign * lanes_in(lanes);
    }
  }
  void global_in_runs(AccessPattern& pattern, std::uint64_t first, AccessKind kind);
  Traffic& traffic_of(AccessKind kind);
  void mark(std::size_t segment, std::uint64_t first_sector, std::uint64_t count, AccessKind kind);
  void note_atomic(const AccessPattern& pattern, std::uint64_t first);
  void note_scattered_atomic(const WarpAccess& access);
  void add_block_reads(KernelCounters& sum) const;

  const Kernel* kernel_;
  const GlobalMemory* memory_;
  KernelCounters counters_;
  struct Change {
    std::int64_t whole_visits = 0;  // with all lanes
    std::int64_t other_visits = 0, other_lanes = 0;

    std::int64_t visits() const { return whole_visits + other_visits; }
    std::int64_t lanes() const { return whole_visits * warp_size + other_lanes; }
  };
  std::vector<Change> changes_;  // at each step against the one before it
  std::uint64_t lanes_left_out_ = 0;
  std::vector<std::uint64_t> first_sectors_;  // of each segment, which need not begin with one
  std::vector<SectorMap> read_, written_;     // by segment
  BlockReads block_reads_;
  AtomicPlaces atomic_places_;
};

}  // namespace cudal1::vgpu
