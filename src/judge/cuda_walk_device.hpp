// The judge's walks on a GPU, by the driver.
#pragma once

#include <memory>

#include "compile/compiler.hpp"
#include "judge/walk_device.hpp"

namespace cudal1 {

//! In the GPU's primary context, which is PyTorch's, and on the stream that PyTorch uses by default. `kernels` is what
//! became of walk_kernels.hpp. Throws DeviceError.
std::shared_ptr<WalkDevice> make_cuda_walk_device(int ordinal, const CompiledModule& kernels);

}  // namespace cudal1
