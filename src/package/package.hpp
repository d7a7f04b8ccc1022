// A package on disk, opened once a process.
#pragma once

#include <filesystem>
#include <memory>

#include "package/kernel_images.hpp"
#include "package/package_format.hpp"

namespace cudal1 {

struct Package {
  PackagedPlan packaged;
  KernelImages kernels;
  bool takes_tensors_only = false;  //!< called with the inputs, by position, and nothing else
  bool returns_one_tensor = false;
};

//! Throws Error.
std::shared_ptr<Package> open_package(const std::filesystem::path& folder);

}  // namespace cudal1
