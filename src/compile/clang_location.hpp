#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cudal1 {

//! A clang that compiles CUDA to PTX. `doctor` prints it.
struct ClangLocation {
  std::filesystem::path program;  //!< /usr/bin/clang-14
  int major_version = 0;
  int highest_target = 0;  //!< 86: the newest architecture this version knows
  int ptx_version = 0;     //!< 75: the newest PTX it writes
};

//! clang: $CUDAL1_CLANG, else the newest clang-N of /usr/bin and /usr/local/bin with 14 <= N <= 22.
std::optional<ClangLocation> find_clang();

//! What find_clang looked at, for the message when there is none.
std::string clang_search_description();

}  // namespace cudal1
