#pragma once

#include <ATen/core/Tensor.h>

#include "graph/tensor_meta.hpp"

namespace cudal1 {

//! A tensor on memory that somebody else owns.
at::Tensor tensor_at(void* address, const TensorMeta& meta, at::Device device);

}  // namespace cudal1
