// One bit for each sector of a buffer. Memory comes into being where bits are set: most kernels touch a part of what
// they might, and a launch is short.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace cudal1::vgpu {

class SectorMap {
 public:
  explicit SectorMap(std::uint64_t sectors) : chunks_((sectors + chunk_sectors - 1) / chunk_sectors) {}

  //! 64 sectors, from a multiple of 64 on.
  std::uint64_t& word(std::uint64_t first_sector) {
    std::unique_ptr<Chunk>& chunk = chunks_[first_sector / chunk_sectors];
    if (!chunk) chunk = std::make_unique<Chunk>();
    return (*chunk)[first_sector % chunk_sectors / 64];
  }
  void mark(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t here = 0; count > 0; first += here, count -= here) {
      here = std::min(count, 64 - first % 64);
      word(first) |= (~std::uint64_t{0} >> (64 - here)) << (first % 64);
    }
  }
  //! Takes what the other has.
  void add(SectorMap& other);

  std::uint64_t marked() const;
  //! Of two that are fetched together, at least one.
  std::uint64_t marked_pairs() const;

 private:
  static constexpr std::uint64_t chunk_sectors = 1 << 14;
  using Chunk = std::array<std::uint64_t, chunk_sectors / 64>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace cudal1::vgpu
