// Runs a command of the Python bridge, which runs the user's own code, in a process of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1 {

//! The folder that holds the package cudal1_bridge. Throws Error saying how to name another one.
std::filesystem::path bridge_directory();

//! `python -m MODULE ARGUMENTS…`. Throws Error: what the command says in one line, or how `subject` (the user's file)
//! ended it.
void run_bridge(const std::string& python_module, const std::vector<std::string>& arguments,
                const std::string& subject);

}  // namespace cudal1
