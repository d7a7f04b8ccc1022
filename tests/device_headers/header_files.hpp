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

//! The example of a header: examples/TASK/ok-header_NAME.cu. Empty if there is none.
inline std::filesystem::path example_of(const std::string& header) {
  const std::filesystem::path examples = std::filesystem::path(CUDAL1_SOURCE_DIR) / "examples";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(examples))
    if (entry.path().filename() == "ok-header_" + header + ".cu") return entry.path();
  return {};
}

}  // namespace cudal1::testing
