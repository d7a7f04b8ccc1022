// Where the time of a program goes on a real device: times that were measured there, beside what the virtual GPU counts
// in the same program.
#pragma once

#include "device/device.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! Medians over the calls. A call that does not have a time for every step of the plan does not count; throws Error
//! where none does.
vgpu::ProfileReport measured_profile(const Plan& plan, const std::vector<StepTimes>& calls, const DeviceInfo& device);

//! Rows of `counted` are found by step. Shares of bandwidth and peak are what was counted over the time that was
//! measured.
void add_counts(vgpu::ProfileReport& measured, const vgpu::ProfileReport& counted, const vgpu::GpuProfile& gpu);

}  // namespace cudal1
