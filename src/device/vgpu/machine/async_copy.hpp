// cp.async: copies from global to shared memory that are there when they have been waited for, and not before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! What a warp has asked for and not yet waited for.
class AsyncCopies {
 public:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    std::uint32_t bytes, zeros;  //!< zeros follow what is copied
    int lane;
    const ptx::Location* at;
    std::uint32_t number;  //!< which copy of the warp's: its lanes have the same
  };
  std::uint32_t next_number() { return copies_++; }
  void start(const Copy& copy) { open_.push_back(copy); }
  void commit(Mask mask);
  //! Of the groups that these lanes have committed all but the latest `left`. Puts what has ended behind `ended`,
  //! unless that is null.
  void wait(Mask mask, std::uint32_t left, std::vector<Copy>* ended);
  //! Those in no group, too.
  void wait_for_all(Mask mask, std::vector<Copy>* ended);
  //! How much there is.
  std::size_t pending() const { return open_.size() + groups_.size(); }
  void forget() {
    open_.clear();
    groups_.clear();
  }

 private:
  struct Group {
    std::vector<Copy> copies;
    Mask lanes;  // that wait for it or may
  };
  std::uint32_t copies_ = 0;
  std::vector<Copy> open_;
  std::vector<Group> groups_;  // the oldest first
};

// Of the step operand 0 is the address in shared memory (plus offset), 1 that in global memory (plus operand 3), 2 how
// many bytes are copied before zeros follow, or 0: all.
Effect find_async_copy(std::uint32_t bytes);
void commit_async_copies(Warp& warp, const Step& step, Mask mask);
//! Leaves step.target groups.
void wait_for_async_groups(Warp& warp, const Step& step, Mask mask);
void wait_for_async_copies(Warp& warp, const Step& step, Mask mask);

}  // namespace cudal1::vgpu
