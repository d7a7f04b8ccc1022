// Which accesses of a block's threads come before which, whatever the order in which warps happen to run.
//
// Every warp has a clock that ticks when it synchronises with somebody; an access carries its warp's clock as a stamp.
// Ordered are: accesses of one thread; those before a barrier with those behind it, for the threads that took part;
// and a hand-over: what a warp did before a fence is known to who touches, atomically, what that warp touched
// atomically after the fence. Without a fence an atomic orders nothing. Lanes of one warp are not in step.
//
// Where this is coarser than CUDA it errs on the silent side: a warp takes part in a partial barrier or a hand-over as
// a whole, and addresses of hand-overs are told apart by a few bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/vgpu/machine/lanes.hpp"

namespace cudal1::vgpu {

class BlockOrder {
 public:
  explicit BlockOrder(std::uint32_t threads);

  //! A barrier of the block opened: who came to it or has ended.
  void block_barrier(std::span<const Mask> lanes_by_warp);
  void warp_barrier(std::uint32_t warp, Mask lanes);
  void fence(std::uint32_t warp);
  //! An access that may hand over: atomic or strong.
  void hand_over(std::uint32_t warp, std::uint64_t address, bool gives, bool takes);

  bool has_fences() const { return has_fences_; }
  //! Barriers of all threads so far: they order everything, so that stamps of other generations need no look.
  std::uint32_t generation() const { return generation_; }
  std::uint32_t stamp(std::uint32_t warp) const { return warps_[warp].clock; }

  //! Whether an access of this generation comes before what a lane does now.
  bool before(std::uint32_t earlier_warp, int earlier_lane, std::uint32_t stamp, std::uint32_t warp, int lane) const;

 private:
  using Clocks = std::vector<std::uint32_t>;                                       // by warp: all below is known
  using LaneClocks = std::array<std::array<std::uint32_t, warp_size>, warp_size>;  // [who knows][of whom]
  struct WarpState {
    std::uint32_t clock = 0;
    std::uint32_t fenced = 0;           // what has a smaller stamp lies before a fence
    std::uint32_t together = 0;         // what has a smaller stamp is known to all lanes
    Clocks known;                       // of other warps
    std::unique_ptr<LaneClocks> lanes;  // since some lanes synchronised without the others
  };
  static constexpr std::size_t places = 64;

  static std::size_t place_of(std::uint64_t address);
  void partial_barrier(std::span<const Mask> lanes_by_warp);
  void synchronise_lanes(WarpState& warp, Mask lanes) const;
  Mask all_lanes(std::uint32_t warp) const;

  std::uint32_t threads_;
  std::uint32_t generation_ = 0;
  bool has_fences_ = false;
  std::vector<WarpState> warps_;
  std::vector<Clocks> handed_over_;  // by place of the address; empty: nothing yet
};

}  // namespace cudal1::vgpu
