// Draws the leaves of a task. The judge passes secret seeds; the same seed gives the same tensors on one device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "graph/executor.hpp"
#include "graph/task.hpp"

namespace cudal1 {

//! What the inputs look like. All but `native` are derived from a native draw.
enum class Distribution { native, scaled, tiny, constant, spiked, negative, centred, denormal };

std::string_view to_string(Distribution distribution);

//! The distributions that make sense for the task: floating inputs only, none that a leaf excludes; native first.
std::vector<Distribution> distributions_of(const Task& task);

//! Fills the entries of the task's inputs in `table` (resized to the number of values). Computed inputs are derived by
//! what they are computed from, so that a triangular matrix stays one.
void draw_inputs(const Task& task, Distribution distribution, std::uint64_t seed, at::Device device,
                 TensorTable& table);

//! Weights: the file's values or a draw. `fresh` draws anew under the seed; weights of a file are those of the file of
//! fresh values then or, without one, permuted.
void draw_weights(const Task& task, std::uint64_t seed, bool fresh, at::Device device, TensorTable& table);

void draw_states(const Task& task, std::uint64_t seed, at::Device device, TensorTable& table);

//! Weights and states, and nothing else yet.
TensorTable draw_constants(const Task& task, Random& random, bool fresh, at::Device device);

}  // namespace cudal1
