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

struct PackageContents {
  Task task;                     //!< made from a PyTorch module
  std::filesystem::path module;  //!< that module's file
  Plan plan;
  std::string program;                           //!< the text it was made from
  std::map<std::string, CompiledModule> images;  //!< by target; empty if there are no kernels
};

//! Makes the folder, whole or not at all. Throws Error, also when it is already there.
void write_package(const PackageContents& contents, const std::filesystem::path& folder);

}  // namespace cudal1
