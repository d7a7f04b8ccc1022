#pragma once

#include <memory>
#include <string>

#include "judge/backend.hpp"

namespace cudal1 {

//! `--device auto|cuda|vgpu`. Throws Error in one line when there is no such device here.
std::unique_ptr<Backend> choose_backend(const std::string& device);

}  // namespace cudal1
