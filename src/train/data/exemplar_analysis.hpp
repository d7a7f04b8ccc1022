// The line "Analysis: …" before a program (docs/training_data.md): which of the programs in the prompt is best, what
// sets it apart, what to try. A few fixed patterns, so that a small model learns them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/op_graph.hpp"
#include "policy/prompt/prompt.hpp"

namespace cudal1 {

//! What tells `program` from `other`, as at most so many short pieces: "fold, fuse linear_1 gelu_1", "split=2, no
//! graph". Empty: nothing that can be said, as in programs with code of their own.
std::string program_differences(std::string_view program, std::string_view other, std::size_t most = 2);

//! Without exemplars: the node that is expected to take longest, and what the program does first.
std::string analysis_of_task(const OpGraph& graph, const vgpu::GpuProfile& gpu, std::string_view program);

//! With exemplars, in the order of the prompt. What to try is what tells the program that follows from the best of
//! them; nothing is said of how fast that one is.
std::string analysis_of_exemplars(std::span<const PromptExemplar> exemplars, std::string_view program);

}  // namespace cudal1
