// Races in global memory between the threads of one block: two of them touch the same bytes, one with a plain write,
// and no barrier lies between.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/vgpu/checks/access_history.hpp"
#include "device/vgpu/checks/finding.hpp"

namespace cudal1::vgpu {

//! Of one block. Strong accesses count as atomics, and what others change atomically may be read.
//!
//! Memory is kept line by line, as it is touched. Mostly a line belongs to one warp, each word of it to one lane: then
//! it holds only what the warp did last. A line that is touched in any other way gets a history for each piece.
class BlockGlobalRaces {
 public:
  BlockGlobalRaces(const BlockPlace& block, const BlockOrder& order) : block_(block), order_(order) {}

  //! Throws KernelFault.
  void access(const WarpAccess& access);

 private:
  static constexpr std::uint64_t line_bytes = 128, word_bytes = 4;
  static constexpr std::uint32_t words_in_line = line_bytes / word_bytes;
  //! Of 8 MiB in use between two barriers. What comes beyond them is not watched.
  static constexpr std::size_t most_lines = 65536;

  //! A warp's access to a whole line, lane by lane from `first_lane` on.
  struct WholeLine {
    const ptx::Location* at = nullptr;  // null: none
    std::uint32_t stamp = 0, bytes = 0;
    std::uint16_t warp = 0;
    std::uint8_t first_lane = 0;
    bool same_owner(const WholeLine& other) const {
      return warp == other.warp && first_lane == other.first_lane && bytes == other.bytes;
    }
  };
  struct Line {
    std::uint32_t generation = 0;
    WholeLine write, read;              // the last write, and the last read after it
    std::vector<std::uint32_t> values;  // that it stored, where they are known
    std::uint32_t piece_bytes = word_bytes;
    std::vector<PieceHistory> pieces;  // empty as long as the line has one owner
  };

  bool is_watched(std::uint64_t address);
  Line* line_at(std::uint64_t address);
  void make_room();
  void access_whole_lines(const WarpAccess& access);
  bool take_whole(const WarpAccess& access, Line& line, const WholeLine& now);
  void access_lanes(const WarpAccess& access, Mask mask);
  void enter(const WarpAccess& access, Line& line, std::uint64_t address, Mask lanes);
  void make_pieces(Line& line);
  void enter_whole(Line& line, const WholeLine& done, AccessKind kind);
  [[noreturn]] void fail(const WarpAccess& access, std::uint64_t address, const Race& race) const;

  const BlockPlace& block_;
  const BlockOrder& order_;
  const Segment* segment_ = nullptr;  // of the last access
  std::uint32_t serial_ = 0;
  std::uint32_t emptied_at_ = 0;  // generation
  std::unordered_map<std::uint64_t, Line> lines_;
};

}  // namespace cudal1::vgpu
