// A second, slow and obvious implementation of what lanes do together: written from the PTX manual, a lane at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::vgpu {

//! A register of every lane of a warp.
using WarpWords = std::array<std::uint32_t, 32>;
using WarpFlags = std::array<bool, 32>;

struct ShuffledWords {
  WarpWords values{};
  WarpFlags in_range{};
};
//! shfl.sync: mode is up, down, bfly or idx; b and c as the manual names them.
ShuffledWords shuffle_by_oracle(const std::string& mode, const WarpWords& a, const WarpWords& b, const WarpWords& c);

//! Lanes of the mask whose value equals that of `lane`.
std::uint32_t matching_lanes(const std::array<std::uint64_t, 32>& values, std::uint32_t mask, int lane);

//! redux.sync: operation and type as in its name, "add" and "u32".
std::uint32_t reduce_by_oracle(const std::string& operation, const std::string& type, const WarpWords& values,
                               std::uint32_t mask);

//! Element (row, column) of an 8x8 matrix of halfwords, as ldmatrix and movmatrix lay it over a warp.
struct SmallMatrix {
  std::array<std::array<std::uint16_t, 8>, 8> rows{};
  SmallMatrix transposed() const;
  WarpWords as_registers() const;
  static SmallMatrix of_registers(const WarpWords& registers);
};

//! mma.sync.aligned of "f16", "bf16" with f32 or of "s8", "u8" with s32 accumulators. Registers by number and lane.
struct MatrixShape {
  int m, n, k;
  std::string a, b;  //!< types of elements
  std::size_t registers_of_a() const;
  std::size_t registers_of_b() const;
  std::size_t registers_of_c() const;
};
std::vector<WarpWords> multiply_by_oracle(const MatrixShape& shape, const std::vector<WarpWords>& a,
                                          const std::vector<WarpWords>& b, const std::vector<WarpWords>& c);

}  // namespace cudal1::vgpu
