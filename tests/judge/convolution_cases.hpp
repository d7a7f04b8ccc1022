// Convolutions of many shapes, and what at::convolution makes of them.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "judge/convolution_walk.hpp"
#include "special_numbers.hpp"

namespace cudal1::testing {

struct ConvolutionCase {
  std::string name;
  std::vector<std::int64_t> input, weight;  //!< sizes
  std::vector<std::int64_t> stride{}, padding{}, dilation{}, output_padding{};
  std::int64_t groups = 1;
  bool transposed = false, bias = true;
};

//! Empty lists: the defaults of the operators.
inline Convolution drawn(const ConvolutionCase& of) {
  const auto list = [&](const std::vector<std::int64_t>& given, std::int64_t otherwise) {
    return given.empty() ? std::vector<std::int64_t>(of.input.size() - 2, otherwise) : given;
  };
  Convolution convolution{.input = drawn(of.input, 1), .weight = drawn(of.weight, 2)};
  if (of.bias) convolution.bias = drawn({of.transposed ? of.weight[1] * of.groups : of.weight[0]}, 3);
  convolution.stride = list(of.stride, 1);
  convolution.padding = list(of.padding, 0);
  convolution.dilation = list(of.dilation, 1);
  convolution.output_padding = list(of.output_padding, 0);
  convolution.groups = of.groups;
  convolution.transposed = of.transposed;
  return convolution;
}

inline at::Tensor by_operator(const Convolution& of) {
  return at::convolution(of.input, of.weight, of.bias.defined() ? std::optional<at::Tensor>(of.bias) : std::nullopt,
                         of.stride, of.padding, of.dilation, of.transposed, of.output_padding, of.groups);
}

inline void expect_close(const at::Tensor& found, const at::Tensor& wanted, const std::string& name) {
  ASSERT_EQ(found.sizes(), wanted.sizes()) << name;
  EXPECT_TRUE(at::allclose(found.cpu(), wanted.cpu(), 1e-12, 1e-12, /*equal_nan=*/true))
      << name << ": off by " << (found.cpu() - wanted.cpu()).abs().max().item<double>();
}

//! Each small enough for the virtual GPU.
inline std::vector<ConvolutionCase> convolution_cases() {
  return {
      {.name = "1d", .input = {2, 3, 20}, .weight = {5, 3, 4}},
      {.name = "1d of one element", .input = {1, 1, 1}, .weight = {1, 1, 1}},
      {.name = "1d without bias", .input = {2, 3, 20}, .weight = {9, 3, 4}, .bias = false},
      {.name = "1d, strided, padded, dilated",
       .input = {3, 4, 37},
       .weight = {8, 4, 5},
       .stride = {3},
       .padding = {4},
       .dilation = {2}},
      {.name = "2d", .input = {2, 3, 11, 13}, .weight = {16, 3, 3, 3}, .padding = {1, 1}},
      {.name = "2d, 1x1", .input = {2, 37, 5, 7}, .weight = {17, 37, 1, 1}},
      {.name = "2d, other numbers in each dimension",
       .input = {1, 5, 17, 12},
       .weight = {7, 5, 2, 5},
       .stride = {2, 3},
       .padding = {1, 2},
       .dilation = {3, 1}},
      {.name = "2d, side by side", .input = {1, 9, 6, 7}, .weight = {64, 9, 3, 2}, .padding = {2, 1}},
      {.name = "2d, more channels than at once", .input = {1, 41, 4, 5}, .weight = {33, 41, 2, 2}},
      {.name = "2d, padding beyond the kernel", .input = {1, 2, 2, 3}, .weight = {4, 2, 2, 2}, .padding = {5, 4}},
      {.name = "2d, depthwise", .input = {2, 6, 9, 8}, .weight = {6, 1, 3, 3}, .padding = {1, 1}, .groups = 6},
      {.name = "2d, depthwise with a multiplier", .input = {2, 4, 9, 8}, .weight = {12, 1, 3, 3}, .groups = 4},
      {.name = "2d, groups of no whole blocks", .input = {1, 6, 9, 8}, .weight = {26, 3, 3, 3}, .groups = 2},
      {.name = "2d, more positions than a block has", .input = {3, 2, 40, 50}, .weight = {4, 2, 2, 3}},
      {.name = "3d", .input = {2, 3, 5, 6, 7}, .weight = {9, 3, 3, 2, 3}, .padding = {1, 0, 1}},
      {.name = "3d, strided, dilated, grouped",
       .input = {1, 4, 9, 8, 11},
       .weight = {6, 2, 2, 3, 2},
       .stride = {2, 1, 3},
       .padding = {1, 2, 0},
       .dilation = {2, 2, 3},
       .groups = 2},
      {.name = "1d transposed", .input = {2, 3, 20}, .weight = {3, 5, 4}, .transposed = true},
      {.name = "1d transposed, strided, padded",
       .input = {2, 3, 15},
       .weight = {3, 8, 7},
       .stride = {3},
       .padding = {2},
       .output_padding = {1},
       .transposed = true},
      {.name = "1d transposed, stride beyond the kernel",
       .input = {1, 3, 6},
       .weight = {3, 2, 2},
       .stride = {5},
       .output_padding = {4},
       .transposed = true},
      {.name = "1d transposed, dilation and stride with a factor in common",
       .input = {1, 3, 9},
       .weight = {3, 2, 5},
       .stride = {4},
       .padding = {3},
       .dilation = {6},
       .output_padding = {5},
       .transposed = true},
      {.name = "2d transposed, without bias",
       .input = {2, 5, 7, 6},
       .weight = {5, 6, 4, 4},
       .stride = {2, 2},
       .padding = {1, 1},
       .transposed = true,
       .bias = false},
      {.name = "2d transposed, other numbers in each dimension",
       .input = {1, 4, 7, 6},
       .weight = {4, 9, 3, 5},
       .stride = {3, 2},
       .padding = {1, 4},
       .dilation = {2, 3},
       .output_padding = {1, 2},
       .groups = 2,
       .transposed = true},
      {.name = "2d transposed, depthwise",
       .input = {1, 6, 7, 6},
       .weight = {6, 1, 3, 3},
       .stride = {2, 2},
       .groups = 6,
       .transposed = true},
      {.name = "3d transposed, grouped",
       .input = {1, 8, 4, 5, 3},
       .weight = {8, 4, 3, 3, 3},
       .stride = {2, 2, 2},
       .padding = {1, 1, 1},
       .output_padding = {1, 1, 1},
       .groups = 4,
       .transposed = true},
      {.name = "3d transposed", .input = {2, 3, 3, 5, 4}, .weight = {3, 16, 3, 5, 2}, .transposed = true},
      {.name = "no images", .input = {0, 3, 11, 13}, .weight = {16, 3, 3, 3}},
  };
}

}  // namespace cudal1::testing
