// A module's description as Python: a file with Model, get_inputs and get_init_inputs.
#pragma once

#include <string>

#include "tasks/module.hpp"

namespace cudal1 {

std::string python_text(const Module& module);

}  // namespace cudal1
