// The sixteen barriers of a block: who has come, and when they open.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/vgpu/machine/lanes.hpp"

namespace cudal1::vgpu {

inline constexpr std::uint32_t barrier_count = 16;

class Barriers {
 public:
  //! Nobody has come, and all these lanes are there: a mask for each warp.
  void reset(std::span<const Mask> lanes);

  struct Arrival {
    std::uint32_t warp = 0, barrier = 0;
    std::uint32_t threads = 0;  //!< for how many it opens, a multiple of the warp size; 0: for all that have not ended
    Mask lanes = 0;
    Mask votes = 0;           //!< of these lanes, for bar.red
    std::uint32_t place = 0;  //!< the step
  };
  //! Why this cannot be, or empty.
  std::optional<std::string> arrive(const Arrival& arrival);
  //! The same for a whole warp, as far as it has not ended, at a barrier for all that others came to in the same place.
  //! False, and nothing has happened, where there is more to it.
  bool arrive_whole(std::uint32_t warp, std::uint32_t number, Mask lanes, std::uint32_t place) {
    if (number >= barrier_count) return false;
    Barrier& barrier = all_[number];
    if (barrier.wanted != 0 || lanes != live_[warp] || barrier.lanes[warp] != 0) return false;
    if (barrier.arrived != 0 && barrier.place != place) return false;
    barrier.place = place;
    used_ |= 1u << number;
    barrier.lanes[warp] = lanes;
    barrier.arrived += warp_size;
    ++barrier.full_warps;
    barrier.voters += static_cast<std::uint32_t>(lanes_in(lanes));
    return true;
  }
  //! These lanes have ended: barriers for all threads no longer need them.
  void leave(std::uint32_t warp, Mask lanes);

  bool is_complete(std::uint32_t barrier) const { return is_complete(all_[barrier]); }
  //! One that all have come to, if there is one. Who finds it opens it.
  std::optional<std::uint32_t> complete() const {
    for (std::uint32_t rest = used_; rest != 0; rest &= rest - 1)
      if (const int barrier = std::countr_zero(rest); is_complete(all_[static_cast<std::size_t>(barrier)]))
        return static_cast<std::uint32_t>(barrier);
    return std::nullopt;
  }
  //! By warp: who came, and to a barrier for all also who has ended. Good until the next call.
  std::span<const Mask> came_to(std::uint32_t barrier);
  std::uint32_t votes(std::uint32_t barrier) const { return all_[barrier].votes; }    //!< for
  std::uint32_t voters(std::uint32_t barrier) const { return all_[barrier].voters; }  //!< who came, as bar.red counts
  //! For the next time.
  void open(std::uint32_t barrier);

 private:
  struct Barrier {
    std::vector<Mask> lanes;    // by warp
    std::uint32_t wanted = 0;   // threads, 0: all
    std::uint32_t arrived = 0;  // threads; warps that are all here count as whole ones
    std::uint32_t full_warps = 0;
    std::uint32_t votes = 0, voters = 0;
    std::uint32_t place = 0;  // of the first to come
  };
  bool is_complete(const Barrier& barrier) const {
    return barrier.wanted == 0 ? barrier.full_warps == live_warps_ : barrier.arrived >= barrier.wanted;
  }
  void count(Barrier& barrier, std::uint32_t warp, int sign);

  std::array<Barrier, barrier_count> all_;
  std::vector<Mask> live_, came_;  // by warp
  std::uint32_t live_warps_ = 0;
  std::uint32_t used_ = 0;  // one bit a barrier that somebody has come to
};

}  // namespace cudal1::vgpu
