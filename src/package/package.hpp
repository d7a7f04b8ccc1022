// A package on disk, opened once a process.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "package/kernel_images.hpp"
#include "package/package_format.hpp"

namespace cudal1 {

struct PackagedProgram {
  PackagedPlan packaged;
  KernelImages kernels;
};

struct Package {
  std::vector<std::unique_ptr<PackagedProgram>> programs;  //!< each for other sizes of the inputs
  bool takes_tensors_only = false;                         //!< called with the inputs, by position, and nothing else
  bool returns_one_tensor = false;
};

//! Throws Error.
std::shared_ptr<Package> open_package(const std::filesystem::path& folder);

}  // namespace cudal1
