// Which addresses the lanes of a warp name, relative to the first of them. Most instructions repeat theirs again and
// again with another first address, so what follows from them, traffic and bank conflicts above all, is looked up.
#pragma once

#include <array>

#include "device/vgpu/machine/lane_shape.hpp"
#include "device/vgpu/machine/lanes.hpp"
#include "device/vgpu/machine/memory.hpp"

namespace cudal1::vgpu {

inline constexpr std::uint64_t sector_bytes = 32;

//! Sectors that follow each other.
struct SectorRun {
  std::int32_t begin = 0;  //!< counted from the first address's sector
  std::uint32_t count = 0;
};

struct alignas(64) AccessPattern {
  std::array<std::int64_t, warp_size> deltas{};  //!< bytes from the first lane's address; 0 for lanes outside the mask
  Mask mask = 0;                                 //!< who took part; 0: nothing has been seen yet
  std::int64_t lowest = 0, highest = 0;          //!< of the deltas
  std::uint32_t bytes = 0;                       //!< of each lane
  std::uint32_t lanes = 0;
  LaneShape shape = LaneShape::scattered;
  bool aligned = false;  //!< if the first address is, all are

  std::uint8_t shared_passes = 0;  //!< for first addresses that begin at word_phase in a word; 0: not counted yet
  std::uint8_t word_phase = 0;
  std::uint8_t shared_quad_passes = 0;  //!< the same if each lane took 16 bytes
  std::uint8_t sectors = 0;  //!< for first addresses that begin at sector_phase in a sector; 0: not counted yet
  std::uint8_t sector_phase = 0;
  std::uint8_t sector_runs = 0;

  //! The bytes of each lane where all lanes took part, all is aligned if the first address is, and what the access
  //! costs is counted for such: in global memory for those with this sector_phase, and one run of sectors. Else 0.
  std::uint32_t ready_bytes = 0;
  std::uint64_t first_lowest = 0;  //!< of shared memory: where the lowest address may lie at least
  std::uint64_t lowest_room = 0;   //!< and how far behind that; set with ready_bytes
  // Of global memory, set with ready_bytes: all is in bounds for first addresses from here on, and so many behind.
  std::uint64_t least_first = 0, room = 0;
  std::byte* least_host = nullptr;

  const Segment* segment = nullptr;  //!< of global memory, where the last access went
  std::size_t segment_index = 0;
  std::array<SectorRun, warp_size> runs;  //!< sector_runs of them
};

//! A step has a pattern for the whole warp, some for its first lanes, and one for all else: loops that halve the lanes
//! with every round, and guards at a row's end, would otherwise forget what they knew.
inline constexpr std::size_t pattern_ways = 8;
inline constexpr std::size_t whole_warp_way = 6;
inline std::size_t pattern_way(Mask mask) {
  return mask == full_mask ? whole_warp_way
                           : static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(std::countr_one(mask))));
}

//! Whether lanes of the pattern's mask name the addresses that it says. `first` is the address of the first of them.
__attribute__((always_inline)) inline bool matches(const AccessPattern& pattern, const std::uint64_t* addresses,
                                                   std::uint64_t first, Mask mask) {
  std::uint64_t difference = 0;
  if (mask == full_mask) {
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      difference |= (addresses[lane] - first) ^ static_cast<std::uint64_t>(pattern.deltas[lane]);
  } else {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t address = (mask & lane_bits[lane]) != 0 ? addresses[lane] : first;
      difference |= (address - first) ^ static_cast<std::uint64_t>(pattern.deltas[lane]);
    }
  }
  return difference == 0;
}

//! Makes the pattern that of these addresses; false, and no pattern, where they lie too far apart.
bool learn(AccessPattern& pattern, const std::uint64_t* addresses, Mask mask, std::uint32_t bytes);

//! Passes over 32 banks of 4 bytes. Accesses of 8 bytes go in halves of the warp, those of 16 in quarters; twice as
//! many lanes go at once where each has the address of its neighbour, or of the next but one.
void count_shared_passes(AccessPattern& pattern, std::uint64_t first);

//! Different addresses; none where there is one, which is broadcast like an operand.
std::uint32_t constant_addresses(const AccessPattern& pattern);

//! For a first address that begins at this byte of a sector.
void count_sectors(AccessPattern& pattern, std::uint64_t first);

//! Sectors of local memory, where lanes lie side by side in words of 4 bytes.
std::uint32_t local_sectors(const std::array<std::uint64_t, warp_size>& addresses, Mask mask, std::uint32_t bytes);

//! Numbers in order, each once; how many there are.
std::size_t sort_and_unite(std::uint64_t* numbers, std::size_t count);

}  // namespace cudal1::vgpu
