// PyTorch modules as tasks: the Python bridge exports a module file once, and what it made is kept.
#pragma once

#include <filesystem>

namespace cudal1 {

//! A Python file, as opposed to a task folder or its graph.json.
bool is_module_file(const std::filesystem::path& path);

//! The folder of the module's task. It is made again when the file, what it imports from beside it or the bridge
//! changed. Runs the user's own Python code. Throws Error: one line with the place in the module.
std::filesystem::path task_of_module(const std::filesystem::path& module);

}  // namespace cudal1
