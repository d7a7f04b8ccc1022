// Parameters that are multiplied with the same rows: one product instead of several.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cudal1 {

//! All rows of these parameters in one tensor, of which they become parts: nothing is kept twice.
at::Tensor joined_rows(std::vector<at::Tensor> parts);

}  // namespace cudal1
