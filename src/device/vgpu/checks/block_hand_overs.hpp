// What blocks of one launch know of each other. Nothing orders blocks but this: a block that passes a fence and then
// touches a word atomically gives away all that it did before the fence; a block that touches the same word atomically
// after that, or reads it, takes it. So the last block of a reduction may read what the others wrote.
//
// It is coarser than the memory model, on the silent side: blocks give and take as a whole, a taker needs no fence, and
// words are told apart by a few bits of a hash. What a third block passes on is not followed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace cudal1::vgpu {

class BlockHandOvers {
 public:
  //! When a block did something, in terms of its own progress.
  struct Moment {
    std::uint32_t fences = 0;  //!< that the block has passed
    std::uint32_t tick = 0;    //!< of its last hand-over
    bool operator==(const Moment&) const = default;
  };

  explicit BlockHandOvers(std::uint32_t blocks) : rows_(blocks) {}
  ~BlockHandOvers();

  //! Returns the tick of this hand-over. Called before the access that gives is made.
  std::uint32_t give(std::uint32_t block, std::uint32_t places, std::uint32_t fences);
  //! Called when the access that takes has been made for sure: everything given before then may have been seen.
  void take(std::uint32_t block, std::uint32_t places);
  //! An address's bit in `places`.
  static std::uint32_t place_bit(std::uint64_t address) { return std::uint32_t{1} << place_of(address); }

  //! Whether what one block did at a moment comes before what another does now.
  bool before(std::uint32_t giver, const Moment& moment, std::uint32_t taker) const;

 private:
  static constexpr std::size_t place_count = 16;
  struct Row {
    std::array<std::atomic<std::uint32_t>, place_count> fences_given{}, tick_taken{};
  };
  static std::size_t place_of(std::uint64_t address) {
    return static_cast<std::size_t>(address / 4 * 0x9e3779b97f4a7c15u >> 60);
  }
  Row& row(std::uint32_t block);

  std::vector<std::atomic<Row*>> rows_;  // by block; null for those that gave and took nothing
  std::atomic<std::uint32_t> tick_{0};
};

}  // namespace cudal1::vgpu
