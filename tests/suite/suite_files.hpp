// Suites of a test's own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.hpp"

namespace cudal1 {

constexpr const char* a_module = "class Model: pass\ndef get_inputs(): return []\n";

class SuiteFolder {
 public:
  std::filesystem::path path() const { return folder_.path(); }

  std::filesystem::path write(const std::string& name, const std::string& text = a_module) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace cudal1
