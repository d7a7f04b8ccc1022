// Every device header compiles alone, with both compilers, and so does its example for real GPUs (tests/judge runs it
// on the virtual one).
#include <gtest/gtest.h>

#include <regex>

#include "base/files.hpp"

#include "compile/clang_compiler.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "compile/nvrtc_location.hpp"
#include "header_files.hpp"

namespace cudal1 {
namespace {

std::string program_with(const std::string& header) {
  const std::string include = "#include <cudal1/" + header + ".cuh>\n";
  return include + include + "__global__ void k(float* x) { x[threadIdx.x] *= 2.0f; }\n";
}

std::string outcome(const Result<CompiledModule>& module) {
  return module.ok() ? "compiled" : module.failure().message + "\n" + module.failure().details;
}

//! The kernel that an example has a directive for.
std::string kernel_of(const std::string& program) {
  static const std::regex directive("(?:^|\n)//! kernel (\\S+) replaces");
  std::smatch found;
  return std::regex_search(program, found, directive) ? found[1].str() : std::string();
}

class DeviceHeader : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceHeader, CompilesAloneForRealGpus) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  NvrtcCompilerOptions options;
  options.use_cache = false;
  for (const char* target : {"sm_80", "sm_90"})
    EXPECT_EQ(outcome(NvrtcCompiler(options).compile({program_with(GetParam()), {"k"}, target})), "compiled") << target;
}

TEST_P(DeviceHeader, HasAnExampleThatCompilesForRealGpus) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  const std::string program = read_file(testing::example_of(GetParam()));
  NvrtcCompilerOptions options;
  options.use_cache = false;
  for (const char* target : {"sm_80", "sm_90"})
    EXPECT_EQ(outcome(NvrtcCompiler(options).compile({program, {kernel_of(program)}, target})), "compiled") << target;
}

TEST_P(DeviceHeader, CompilesAloneForTheVirtualGpu) {
  if (!find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
  ClangCompilerOptions options;
  options.use_cache = false;
  EXPECT_EQ(outcome(ClangCompiler(options).compile({program_with(GetParam()), {"k"}, "sm_90"})), "compiled");
}

INSTANTIATE_TEST_SUITE_P(All, DeviceHeader, ::testing::ValuesIn(testing::device_headers()),
                         [](const auto& header) { return header.param; });

}  // namespace
}  // namespace cudal1
