// Finds blocks that will never go on. Threads that poll memory look busy; but where all of them, and all memory, come
// back to where they were, nothing can ever change: one block after the other goes on as it did before. Where they
// count how often they have looked, they come back nowhere, and get so many instructions.
#pragma once

#include <optional>
#include <vector>

#include "device/vgpu/machine/block.hpp"
#include "device/vgpu/machine/memory_watch.hpp"

namespace cudal1::vgpu {

class Standstill {
 public:
  //! Whether blocks that are not shown to it may write to global memory at the same time.
  Standstill(const GlobalMemory& memory, bool others_write) : memory_(memory), others_write_(others_write) {}

  //! For other blocks, or blocks that have gone on.
  void forget();
  //! After a turn in which each of these blocks went on until it only waited. `left`: blocks that have not begun.
  //! Throws KernelFault.
  void end_turn(const std::vector<Block*>& blocks, std::uint64_t left);

 private:
  // Looks at the turn behind the 16th, 32nd, 64th …: what takes long is looked at seldom.
  static constexpr std::uint64_t first_look = 16;
  //! Between two looks at the same places who only polls does little else.
  static constexpr std::uint64_t most_instructions_a_poll = 16;
  //! As long as all warps only poll: for all together, and for each. Some 10 ms of a GPU and more, where each look at
  //! memory takes hundreds of clocks.
  static constexpr std::uint64_t most_polling_instructions = 1 << 22, most_of_a_warp = 1 << 16;

  void begin_look(const std::vector<Block*>& blocks);
  bool nothing_was_changed() const;
  bool stands_still(const std::vector<Block*>& blocks) const;
  bool only_polls(const std::vector<Block*>& blocks) const;
  bool polls_for_too_long(const std::vector<Block*>& blocks);
  void end_look(const std::vector<Block*>& blocks);
  [[noreturn]] void fail(FaultKind kind, const std::vector<Block*>& blocks, std::uint64_t left) const;

  const GlobalMemory& memory_;
  bool others_write_;
  std::uint64_t turns_ = 0;
  std::optional<MemoryWatch> watch_;            // while it looks
  std::vector<std::uint64_t> fingerprints_;     // before that turn, by block
  std::uint64_t instructions_before_ = 0;       // that turn
  std::optional<std::uint64_t> polling_since_;  // how many instructions these blocks had then
};

}  // namespace cudal1::vgpu
