// The kernel files of this folder as parameters of tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "kernel_file.hpp"

namespace cudal1::conformance {

struct NamedCase {
  std::filesystem::path path;
  std::string family, variant;

  Case load(Size size) const {
    const KernelFile file = read_kernel_file(path);
    return make_case(file, *std::ranges::find(file.variants, variant, &Variant::name), size);
  }
};

inline std::ostream& operator<<(std::ostream& stream, const NamedCase& named) {
  return stream << named.family << "." << named.variant;
}

inline std::vector<NamedCase> all_cases() {
  std::vector<NamedCase> cases;
  for (const KernelFile& file : read_kernel_folder(CUDAL1_SOURCE_DIR "/tests/vgpu_conformance/kernels"))
    for (const Variant& variant : file.variants) cases.push_back({file.path, file.family, variant.name});
  return cases;
}

inline std::string test_name(const ::testing::TestParamInfo<NamedCase>& info) {
  std::string name = info.param.family + "_" + info.param.variant;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

}  // namespace cudal1::conformance
