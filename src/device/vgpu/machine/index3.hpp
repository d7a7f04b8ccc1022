// Where a thread is in its block, or a block in its grid.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cudal1::vgpu {

using Index3 = std::array<std::uint32_t, 3>;  //!< x, y, z; also sizes

//! How many there are. In the type of the count that is wanted: a block's threads fit 32 bits, a grid's blocks do not.
template <class Count>
Count count_of(const Index3& sizes) {
  return Count{sizes[0]} * sizes[1] * sizes[2];
}

//! The index of the one with this number, counted along x first.
template <class Count>
Index3 index_in(Count number, const Index3& sizes) {
  return {static_cast<std::uint32_t>(number % sizes[0]), static_cast<std::uint32_t>(number / sizes[0] % sizes[1]),
          static_cast<std::uint32_t>(number / sizes[0] / sizes[1])};
}

//! The other way round.
template <class Count>
Count number_in(const Index3& index, const Index3& sizes) {
  return (Count{index[2]} * sizes[1] + index[1]) * sizes[0] + index[0];
}

//! "(3, 0, 0)".
std::string text_of(const Index3& index);

}  // namespace cudal1::vgpu
