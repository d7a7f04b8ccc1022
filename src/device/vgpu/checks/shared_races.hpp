// Races in shared memory between barriers.
#pragma once

#include <vector>

#include "device/vgpu/checks/access_history.hpp"
#include "device/vgpu/checks/finding.hpp"

namespace cudal1::vgpu {

//! Of one block. Pieces are as small as the smallest access so far, so that neighbours never count as one.
class SharedRaces {
 public:
  SharedRaces(const BlockPlace& block, const BlockOrder& order);

  //! Throws KernelFault.
  void access(const WarpAccess& access);

 private:
  void access_lanes(const WarpAccess& access, std::uint64_t address, Mask lanes);
  void split_pieces(std::uint32_t bytes);
  [[noreturn]] void fail(const WarpAccess& access, std::uint64_t address, const Race& race) const;

  const BlockPlace& block_;
  const BlockOrder& order_;
  std::uint32_t piece_bytes_ = 4;
  std::uint32_t serial_ = 0;
  std::vector<PieceHistory> pieces_;
};

}  // namespace cudal1::vgpu
