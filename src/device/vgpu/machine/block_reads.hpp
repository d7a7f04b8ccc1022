// What a block reads more than once, for the timing model: the first-level cache answers that, or part of it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/vgpu/machine/sector_map.hpp"

namespace cudal1::vgpu {

//! Looks on at some of the blocks only. Of blocks that run in turns it takes those between two ends for one.
class BlockReads {
 public:
  //! `sectors`: how many each segment has.
  explicit BlockReads(std::vector<std::uint64_t> sectors) : sectors_(std::move(sectors)) {}

  void begin_block(bool watched);
  void end_block();
  bool watching() const { return watching_; }
  void read(std::size_t segment, std::uint64_t first_sector, std::uint64_t count);
  void add(const BlockReads& other);

  std::uint64_t asked() const { return asked_; }        //!< sectors
  std::uint64_t distinct() const { return distinct_; }  //!< of them, each block's once
  //! Of them, those that were read shortly before by the same warp: it runs alone up to a barrier.
  std::uint64_t repeated_soon() const { return repeated_soon_; }

 private:
  struct Word {
    std::size_t segment;
    std::uint64_t sector;  // the first of them
  };

  void note_recent(std::uint64_t key);
  void note_seen(std::size_t segment, std::uint64_t sector, std::uint64_t sectors);

  std::vector<std::uint64_t> sectors_;
  bool watching_ = false;
  std::uint64_t asked_ = 0, distinct_ = 0, repeated_soon_ = 0;
  std::vector<SectorMap> seen_;              // by segment; made when first needed
  std::vector<Word> touched_;                // words of it that are not zero
  std::array<std::uint64_t, 256> recent_{};  // sectors, by a hash of them
};

}  // namespace cudal1::vgpu
