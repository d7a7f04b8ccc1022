// Who touched a piece of memory since the last barrier of all threads, precisely: the last write, and who read or
// changed it atomically since then. Races inside a block are found here.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "device/vgpu/checks/block_order.hpp"
#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

//! Lanes of one warp that did the same to a piece of memory.
struct Party {
  const ptx::Location* at = nullptr;
  std::uint32_t stamp = 0;
  Mask lanes = 0;  //!< 0: nobody
  std::uint16_t warp = 0;
  AccessKind kind = AccessKind::read;
  bool strong = false;
  bool may_read_atomics = false;  //!< without being one: in global memory, and where it only guesses
};

//! Two that are not ordered.
struct Race {
  Party earlier;
  int earlier_lane = 0, lane = 0;
  bool same_instruction = false;
};

//! What is known of one piece: at most 4 bytes that are always touched together.
class PieceHistory {
 public:
  //! Lanes of one warp touch the piece in one instruction. `serial` tells warp instructions apart, `value` is what a
  //! write stores, where it is known; writes come lane by lane.
  std::optional<Race> touch(const BlockOrder& order, const Party& now, std::uint32_t serial,
                            std::optional<std::uint32_t> value);

  //! This history for a part of the piece.
  PieceHistory part(std::uint32_t first_bit, std::uint32_t bits) const;

 private:
  std::optional<Race> race_with_write(const BlockOrder& order, const Party& now, std::uint32_t serial,
                                      std::optional<std::uint32_t> value) const;
  void remember_user(const BlockOrder& order, const Party& now);

  Party write_;
  std::array<Party, 2> users_;  // readers or atomics since the write, each of another warp
  std::uint32_t generation_ = 0, serial_ = 0;
  std::optional<std::uint32_t> value_;
};

//! The same pieces, cut into smaller ones.
std::vector<PieceHistory> split(const std::vector<PieceHistory>& pieces, std::uint32_t bytes,
                                std::uint32_t smaller_bytes);

//! Why nothing orders the two, for messages.
const char* reason_of(const Race& race, std::uint32_t warp);

}  // namespace cudal1::vgpu
