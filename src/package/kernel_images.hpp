// The kernels of a package as a GPU loads them.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "compile/compiler.hpp"

namespace cudal1 {

//! Cubins as they were exported; for other GPUs the program is compiled, with NVRTC, once a process.
class KernelImages {
 public:
  //! `folder`: of the package.
  KernelImages(std::filesystem::path folder, const std::map<std::string, std::string>& symbols);
  //! `target`: "sm_90". Throws Error.
  CompiledModule image_for(const std::string& target);

 private:
  CompiledModule compiled_for(const std::string& target) const;

  std::filesystem::path folder_;
  std::map<std::string, std::string> symbols_;
  std::mutex mutex_;
  std::map<std::string, CompiledModule> compiled_;
};

}  // namespace cudal1
