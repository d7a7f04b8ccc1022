// Runs a command of the Python bridge, which runs the user's own code, in a process of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace cudal1 {

//! The folder that holds the package cudal1_bridge. Throws Error saying how to name another one.
std::filesystem::path bridge_directory();

//! `python -m MODULE ARGUMENTS…`, without descriptors yet.
ChildOptions bridge_child(const std::string& python_module, const std::vector<std::string>& arguments);

//! Of what it wrote to this file, the line that is for the user.
//! `subject`: whose name stands before it where there is none.
std::string bridge_complaint(const std::filesystem::path& messages, const std::string& subject);

//! `python -m MODULE ARGUMENTS…`, to its end. Throws Error: what the command says in one line, or how `subject` (the
//! user's file) ended it; also where it has not made `product`, a file or a folder.
void run_bridge(const std::string& python_module, const std::vector<std::string>& arguments, const std::string& subject,
                const std::filesystem::path& product);

}  // namespace cudal1
