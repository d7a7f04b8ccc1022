// Tensors with all that is special among their numbers, and what walks over them find.
#pragma once

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "graph/generator.hpp"
#include "judge/error_sums.hpp"

namespace cudal1::testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline at::Tensor drawn(std::vector<std::int64_t> sizes, std::uint64_t seed) {
  return at::empty(sizes, at::TensorOptions().dtype(at::kDouble)).normal_(0.0, 1.0, make_generator(at::kCPU, seed));
}

//! Normal numbers, and among them all that is special, in steps of different length.
inline at::Tensor with_specials(std::vector<std::int64_t> sizes, std::uint64_t seed) {
  at::Tensor tensor = drawn(std::move(sizes), seed);
  at::Tensor flat = tensor.view({-1});
  const auto shift = static_cast<std::int64_t>(seed % 3);
  const auto put = [&](std::int64_t first, std::int64_t step, double value) {
    if (first + shift < flat.numel()) flat.slice(0, first + shift, flat.numel(), step).fill_(value);
  };
  put(0, 7, infinity);
  put(1, 11, -infinity);
  put(2, 13, not_a_number);
  put(3, 17, 1e39);  // finite in fp64 alone
  put(4, 19, 70000.0);
  put(5, 23, 0x1.0p-140);  // a denormal of fp32
  put(6, 29, -0.0);
  return tensor;
}

//! But for the order in which squares were added up.
inline void expect_same(const ErrorSums& walked, const ErrorSums& wanted, double tolerance = 1e-12) {
  EXPECT_EQ(walked.largest, wanted.largest);
  EXPECT_EQ(walked.counted, wanted.counted);
  EXPECT_EQ(walked.mismatches, wanted.mismatches);
  EXPECT_NEAR(walked.squares, wanted.squares, tolerance * wanted.squares);
}

}  // namespace cudal1::testing
