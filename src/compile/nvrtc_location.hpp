#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

//! Where NVRTC and the CUDA headers were found. `doctor` prints it.
struct NvrtcLocation {
  std::filesystem::path library;                           //!< …/libnvrtc.so.13
  std::vector<std::filesystem::path> include_directories;  //!< empty when no CUDA headers were found
  std::string version;                                     //!< "13.0", from the name of its builtins; may be empty
};

//! NVRTC: $CUDAL1_NVRTC, else the packages beside PyTorch, else a CUDA toolkit, else the loader's path.
//! Headers: $CUDAL1_CUDA_INCLUDE (folders with ':' between), else beside that NVRTC, else a CUDA toolkit.
std::optional<NvrtcLocation> find_nvrtc();

//! What find_nvrtc looked at, for the message when there is none.
std::string nvrtc_search_description();

}  // namespace cudal1
