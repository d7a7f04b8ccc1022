// The device headers that programs may include.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::testing {

//! Their names without folder and ending: "math", "vector" …
inline std::vector<std::string> device_headers() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(CUDAL1_SOURCE_DIR) / "include" / "cudal1"))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace cudal1::testing
