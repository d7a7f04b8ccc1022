// From the facts of a row to what a person may do about it.
#pragma once

#include <string>

#include "device/vgpu/model/kernel_report.hpp"

namespace cudal1::vgpu {

//! One line; every number in it is one of the row's.
std::string advice_for(const KernelReport& row);

}  // namespace cudal1::vgpu
