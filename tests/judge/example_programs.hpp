#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::testing {

inline std::filesystem::path examples_folder() { return std::filesystem::path(CUDAL1_SOURCE_DIR) / "examples"; }

//! All example programs as "task/file.cu".
inline std::vector<std::string> example_programs() {
  std::vector<std::string> found;
  for (const auto& folder : std::filesystem::directory_iterator(examples_folder())) {
    if (!folder.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".cu")
        found.push_back(folder.path().filename().string() + "/" + file.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

//! "wrong_result-last_row.cu" -> "wrong_result"
inline std::string status_in_name(const std::filesystem::path& program) {
  const std::string file = program.filename().string();
  return file.substr(0, file.find('-'));
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

}  // namespace cudal1::testing
