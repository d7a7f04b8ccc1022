#pragma once

#include <memory>
#include <string>

#include "judge/backend.hpp"

namespace cudal1 {

//! `--device auto|cuda|vgpu`: auto takes a GPU where there is one.
//! Throws Error in one line when there is no such device here.
std::unique_ptr<Backend> choose_backend(const std::string& device, const VgpuOptions& vgpu);

}  // namespace cudal1
