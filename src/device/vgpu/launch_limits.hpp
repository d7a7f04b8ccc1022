// What a GPU refuses before a kernel runs.
#pragma once

#include "device/vgpu/vgpu_module.hpp"
#include "program/plan.hpp"

namespace cudal1::vgpu {

//! `kernel` is null where the program has none of that name. Throws DeviceError with the status that CUDA would give.
void check_launch(const LaunchStep& step, const LoadedKernel* kernel);

}  // namespace cudal1::vgpu
