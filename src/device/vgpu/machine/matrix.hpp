// Matrices that a warp holds together: mma.sync, ldmatrix, movmatrix.
#pragma once

#include <array>
#include <string>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! mma.sync: how many rows and columns, and of what.
struct MatrixProduct {
  int m = 0, n = 0, k = 0;
  std::string accumulator, a, b;  //!< types, "f32", "bf16"
  bool saturating = false;        //!< .satfinite of integers
};

//! Registers of each fragment, in a lane.
struct FragmentSizes {
  std::size_t d = 0, a = 0, b = 0, c = 0;
};

//! Where the fragments' registers are in the step's list, Kernel::slot_lists[step.target].
inline constexpr std::size_t d_slots = 0, c_slots = 4, a_slots = 8, b_slots = 12;

struct KnownProduct {
  Effect effect = nullptr;  //!< null: not known
  FragmentSizes registers;
};
KnownProduct find_matrix_product(const MatrixProduct& product);

//! 1, 2 or 4 matrices of 8x8 elements of 16 bits; the registers are in step.data, the rows' addresses in operand 0.
Effect find_load_matrix(int matrices, bool transposed);

//! A matrix of 8x8 elements of 16 bits, one register a lane, transposed.
void transpose_matrix(Warp& warp, const Step& step, Mask mask);

}  // namespace cudal1::vgpu
