// What a GPU refuses before a kernel runs.
#pragma once

#include "device/vgpu/machine/index3.hpp"
#include "device/vgpu/vgpu_module.hpp"
#include "program/plan.hpp"

namespace cudal1::vgpu {

//! `kernel` is null where the program has none of that name. Throws DeviceError with the status that CUDA would give.
void check_launch(const LaunchStep& step, const LoadedKernel* kernel);

//! Of a grid or block that was checked.
Index3 index_of(const Dim3& size);

}  // namespace cudal1::vgpu
