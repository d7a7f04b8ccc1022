#pragma once

#include <ATen/core/Tensor.h>

namespace cudal1 {

//! The stream on which PyTorch works for this device just now, as the driver's CUstream. Throws Error where PyTorch has
//! no CUDA.
void* current_stream(at::Device device);

}  // namespace cudal1
