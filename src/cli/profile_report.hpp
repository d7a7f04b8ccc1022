#pragma once

#include <string>

#include "device/vgpu/model/kernel_report.hpp"

namespace cudal1 {

//! Where the time of a program goes, as a table for a person: a line of numbers for each step, longest first, and one
//! that says what bounds it and what may help.
std::string profile_table(const std::string& program, const vgpu::ProfileReport& report);

}  // namespace cudal1
