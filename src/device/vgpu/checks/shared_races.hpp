// Races in shared memory between barriers.
#pragma once

#include <vector>

#include "device/vgpu/checks/access_history.hpp"
#include "device/vgpu/checks/finding.hpp"
#include "device/vgpu/checks/overlap_filter.hpp"

namespace cudal1::vgpu {

//! Of one block. Pieces are as small as the smallest access so far, so that neighbours never count as one.
//!
//! As long as no accesses overlap since the last barrier of all threads they are only noted down; the first that does
//! has the notes entered into the precise histories, which are kept from then on until that barrier.
class SharedRaces {
 public:
  SharedRaces(const BlockPlace& block, const BlockOrder& order);

  //! Throws KernelFault.
  void access(const WarpAccess& access);

 private:
  //! An access as it was made, with its stamp. Addresses that do not follow from the first lie in `words_`, and so do
  //! the values of writes that have some, behind them.
  struct Note {
    const ptx::Location* at = nullptr;
    Mask mask = 0;
    std::uint32_t stamp = 0;
    std::uint32_t first_address = 0;
    std::uint32_t words = 0;  // where its own begin
    std::uint16_t warp = 0;
    std::uint8_t bytes = 0;
    AccessKind kind = AccessKind::read;
    LaneShape shape = LaneShape::scattered;
    bool strong = false, guess = false, has_values = false;
  };
  //! Beyond this reads are no longer noted: a loop without barriers must not fill the memory.
  static constexpr std::size_t most_notes = 8192;

  void begin_generation();
  void note(const WarpAccess& access, LaneShape shape);
  void filter_notes();
  WarpAccess restored(const Note& note, std::array<std::uint64_t, warp_size>& addresses) const;
  void enter_notes();
  void enter(const WarpAccess& access, std::uint32_t stamp);
  void enter_lanes(const WarpAccess& access, std::uint32_t stamp, std::uint64_t address, Mask lanes);
  void split_pieces(std::uint32_t bytes);
  [[noreturn]] void fail(const WarpAccess& access, std::uint64_t address, const Race& race) const;

  const BlockPlace& block_;
  const BlockOrder& order_;
  std::uint32_t generation_ = 0;
  bool precise_ = false;
  bool written_ = false;  // since the last barrier; until then the filter knows nothing of the notes
  OverlapFilter filter_;
  std::vector<Note> notes_;
  std::vector<std::uint32_t> words_;

  std::uint32_t piece_bytes_ = 4;
  std::uint32_t serial_ = 0;
  std::vector<PieceHistory> pieces_;  // empty until they are needed
};

}  // namespace cudal1::vgpu
