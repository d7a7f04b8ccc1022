// How much device memory the processes that work on a task will need: estimates, made before any is started. One that
// is too small costs a second try, one that is too large keeps others waiting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/task.hpp"

namespace cudal1 {

//! All take a task with metas (infer_metas).

//! What a process that judges, cudal1-prepare, has between two tasks: PyTorch, with the kernels that were used.
inline constexpr std::uint64_t idle_judge_bytes = std::uint64_t{700} << 20;

//! What it has besides while it judges, and the runner that it starts.
std::uint64_t judge_bytes(const Task& task);

//! What it keeps where programs of a search are verified on the same input sets: these, and what must come out.
std::uint64_t input_sets_bytes(const Task& task);

//! The Python process that runs the module as it is, by a program and by these baselines.
std::uint64_t worker_bytes(const Task& task, const std::vector<std::string>& baselines);

//! cudal1-parity and, for a part of its time, eager PyTorch.
std::uint64_t comparison_bytes(const Task& task);

}  // namespace cudal1
