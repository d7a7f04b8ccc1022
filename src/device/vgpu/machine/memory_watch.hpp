// Whether memory is as it was, after blocks have gone on for a while, and what they looked at.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "device/vgpu/machine/access_observer.hpp"
#include "device/vgpu/machine/memory.hpp"

namespace cudal1::vgpu {

//! Of global memory; what a block has for itself is in its fingerprint.
class MemoryWatch {
 public:
  explicit MemoryWatch(const GlobalMemory& memory) : memory_(memory) {}

  void note_global(const WarpAccess& access, Index3 block);
  void note_shared(const WarpAccess& access, Index3 block);

  //! Whether all that was written has the value again that it had before.
  bool is_unchanged() const;
  bool saw_global() const { return saw_global_; }
  //! Warps whose atomics and strong accesses went to the same places again and again.
  std::size_t polling_warps() const;
  //! How often they went there, all together.
  std::uint64_t polls() const { return poll_count_; }

  struct Place {
    ptx::Location at;
    Index3 block{0, 0, 0};
    std::uint32_t thread = 0;  //!< in its block
    bool global = false;
    std::uint64_t address = 0;
  };
  //! What was looked at first.
  const std::optional<Place>& first() const { return first_; }

 private:
  static constexpr std::size_t most_places = 1 << 16;
  static constexpr std::size_t most_bytes = 16;  // of one lane

  struct Before {
    const std::byte* host;
    std::uint32_t bytes;
    std::array<std::byte, most_bytes> value;
  };
  //! The atomics and strong accesses of one instruction, by one warp.
  struct Poll {
    std::uint64_t addresses = 0;  // a fingerprint of them
    std::uint64_t times = 0;
    bool same = true;
  };
  using WarpPlace = std::pair<Index3, std::uint32_t>;  // block, warp

  void note_first(const WarpAccess& access, Index3 block, bool global);
  void note_poll(const WarpAccess& access, Index3 block);
  void remember(std::uint64_t address, std::uint32_t bytes);

  const GlobalMemory& memory_;
  std::map<std::uint64_t, Before> before_;  // by address, what lay there before the first write
  std::map<WarpPlace, std::map<const ptx::Location*, Poll>> polls_;
  std::uint64_t poll_count_ = 0;
  bool too_much_ = false;
  bool saw_global_ = false;
  std::optional<Place> first_;
};

//! Shows a MemoryWatch what a block does, and whoever watched before.
class WatchedBlock : public AccessObserver {
 public:
  WatchedBlock(MemoryWatch& watch, Index3 block, AccessObserver* next) : watch_(watch), block_(block), next_(next) {}

  void shared(const WarpAccess& access) override {
    watch_.note_shared(access, block_);
    if (next_) next_->shared(access);
  }
  void global(const WarpAccess& access) override {
    watch_.note_global(access, block_);
    if (next_) next_->global(access);
  }
  void local(const WarpAccess& access) override {
    if (next_) next_->local(access);
  }
  void copy_begins(const WarpAccess& access) override {
    watch_.note_shared(access, block_);
    if (next_) next_->copy_begins(access);
  }
  void copy_ends(const WarpAccess& access) override {
    if (next_) next_->copy_ends(access);
  }
  void block_barrier(std::span<const Mask> lanes) override {
    if (next_) next_->block_barrier(lanes);
  }
  void warp_barrier(std::uint32_t warp, Mask lanes) override {
    if (next_) next_->warp_barrier(warp, lanes);
  }
  void fence(std::uint32_t warp, Mask lanes) override {
    if (next_) next_->fence(warp, lanes);
  }
  void end() override {
    if (next_) next_->end();
  }

 private:
  MemoryWatch& watch_;
  Index3 block_;
  AccessObserver* next_;
};

}  // namespace cudal1::vgpu
