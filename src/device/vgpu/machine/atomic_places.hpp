// Where atomics on global memory go: one part of the second-level cache serves neighbouring addresses, one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cudal1::vgpu {

//! Passes that the lanes of one instruction need: one for each sector, more where lanes name the same word. Sorts.
std::uint64_t atomic_passes(std::uint64_t* addresses, std::size_t count);

class AtomicPlaces {
 public:
  void note(std::uint64_t address, std::uint64_t passes);
  void add(const AtomicPlaces& other);
  //! Passes at the busiest 4 KiB of memory; places are told apart by a hash.
  std::uint64_t busiest() const;

 private:
  std::vector<std::uint64_t> passes_;  // empty: no atomics yet
};

}  // namespace cudal1::vgpu
