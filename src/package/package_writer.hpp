// Writes a package: a folder that Python imports and that needs torch, and nothing else of ours.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "graph/task.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! What is run on inputs of one set of sizes.
struct ProgramContents {
  Task task;          //!< made from a PyTorch module
  std::string sizes;  //!< as the user named them; empty: the module's own
  Plan plan;
  std::string program;                           //!< the text it was made from
  std::map<std::string, CompiledModule> images;  //!< by target; empty if there are no kernels
};

struct PackageContents {
  std::filesystem::path module;           //!< the module's file
  std::vector<ProgramContents> programs;  //!< all of this module
};

//! Throws Error where a module is called in a way that a package cannot repeat: an argument or a result of a type that
//! it could not rebuild, or a call that changes numbers or strings of the module.
void check_interface(const Task& task);

//! Makes the folder, whole or not at all. Throws Error, also when it is already there, and when no one set of weights
//! would serve all programs.
void write_package(const PackageContents& contents, const std::filesystem::path& folder);

}  // namespace cudal1
