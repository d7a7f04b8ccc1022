// What follows the work of a module: a few pointwise lines on its result, as layers have them.
#pragma once

#include "tasks/choices.hpp"
#include "tasks/module.hpp"

namespace cudal1 {

//! Of numbers that it would make a constant of, some multiple instead.
ModuleValue any_activation(Module& module, Choices& choices, const ModuleValue& x);

//! So many lines: activations, numbers, parameters for each channel, further inputs like a residual. `channel_dim` is
//! that of the channels.
ModuleValue pointwise_epilogue(Module& module, Choices& choices, ModuleValue x, std::int64_t lines,
                               std::int64_t channel_dim);

}  // namespace cudal1
