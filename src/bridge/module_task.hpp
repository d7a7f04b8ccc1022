// PyTorch modules as tasks: the Python bridge exports a module file once, and what it made is kept.
#pragma once

#include <filesystem>
#include <string>

namespace cudal1 {

//! A Python file, as opposed to a task folder or its graph.json.
bool is_module_file(const std::filesystem::path& path);

//! The folder of the module's task. It is made again when the file, what it imports from beside it or the bridge
//! changed. `sizes`: others than the file asks for, such as "x=32x128,batch_size=32". Runs the user's own Python code.
//! Throws Error: one line with the place in the module.
std::filesystem::path task_of_module(const std::filesystem::path& module, const std::string& sizes = "");

}  // namespace cudal1
