// How much of the reference's time a program replaces: what still runs as it was is not replaced.
#pragma once

#include "device/vgpu/model/kernel_report.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! Share of the steps of `reference`, a profile of the empty program, whose node is no library step of this plan.
double replaced_share(const Plan& plan, const vgpu::ProfileReport& reference);

}  // namespace cudal1
