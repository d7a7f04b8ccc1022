// What the argument TASK of a command may be.
#pragma once

#include <filesystem>

#include "graph/task.hpp"

namespace cudal1 {

inline constexpr const char* task_argument_help = "A PyTorch module (.py), a folder with graph.json, or the file";

//! Reads the task; a module is exported first. Throws Error.
Task load_task_argument(const std::filesystem::path& path);

}  // namespace cudal1
