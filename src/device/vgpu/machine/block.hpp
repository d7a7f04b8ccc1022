// A block that runs; used again for the next one, since making registers and memory takes longer than many blocks run.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/machine/memory_watch.hpp"
#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {

class Block {
 public:
  //! Patterns and tally are those of the thread that runs it; the tally may be null.
  Block(const Launch& launch, const GlobalMemory& memory, AccessPattern* patterns, Tally* tally);
  Block(const Block&) = delete;

  void begin(Index3 index);
  //! Goes on until it has ended, or all its threads wait for other blocks as far as one can see. Throws KernelFault.
  void advance();
  bool ended() const { return ended_; }

  // For whoever wants to know whether it ever will (standstill.hpp).
  //! Of all that it has for itself and that says what it does next.
  std::uint64_t fingerprint();
  //! What it does to memory, from now on; null: no longer.
  void show_to(MemoryWatch* watch);
  //! That do not wait at a barrier.
  std::size_t busy_warps() const { return static_cast<std::size_t>(std::ranges::count_if(warps_, &Warp::can_run)); }
  Index3 size() const { return state_.block; }
  std::string describe_shared(std::uint64_t address) const {
    return state_.kernel->shared_arrays.describe(address, state_.shared.size());
  }
  //! A warp of it that does not wait goes round a loop for ever.
  [[noreturn]] void fail_endless() const { std::ranges::find_if(warps_, &Warp::can_run)->fail_endless(); }

  //! Warp instructions since begin().
  std::uint64_t instructions() const { return budget() - state_.instructions_left; }

 private:
  enum class Pass { moved, spun, stuck };
  std::uint64_t budget() const { return std::min(launch_.most_instructions, launch_.most_block_instructions); }
  Pass run_every_warp();
  void end();

  const Launch& launch_;
  BlockState state_;
  std::vector<Warp> warps_;
  std::vector<Mask> lanes_;
  std::unique_ptr<AccessObserver> observer_;
  std::optional<WatchedBlock> watched_;  // between a MemoryWatch and that observer
  bool ended_ = true;
};

}  // namespace cudal1::vgpu
