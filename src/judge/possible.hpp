// Faster than possible? The floor no honest program can beat.
#pragma once

#include "judge/task_context.hpp"

namespace cudal1 {

//! One launch through the same call path, in milliseconds: the least that any call takes here. Starts a runner.
double measure_launch_floor_ms(Backend& backend, std::uint64_t seed);

//! Bytes of the inputs that matter: for each input the share of elements whose change moves an output.
double input_bytes_that_matter(const TaskContext& context, const TensorTable& constants, Random& random);

double input_bytes_that_matter(const MatchRule& rule, const Task& task, at::Device device, const TensorTable& constants,
                               Random& random);

double all_input_bytes(const Task& task);

}  // namespace cudal1
