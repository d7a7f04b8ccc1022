// The kernels of a package as a GPU loads them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compile/compiler.hpp"

namespace cudal1 {

//! Cubins as they were exported; for other GPUs the program is compiled, with NVRTC, once a process.
class KernelImages {
 public:
  //! `package`: its folder; `program`: the folder in there that holds the program.
  KernelImages(const std::filesystem::path& package, const std::filesystem::path& program,
               const std::map<std::string, std::string>& symbols);
  //! `target`: "sm_90". Throws Error.
  CompiledModule image_for(const std::string& target);

 private:
  CompiledModule compiled_for(const std::string& target) const;

  std::filesystem::path folder_, headers_;
  std::map<std::string, std::string> symbols_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::map<std::string, CompiledModule> compiled_;
};

}  // namespace cudal1
