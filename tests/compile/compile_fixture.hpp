#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compile/nvrtc_compiler.hpp"
#include "compile/nvrtc_location.hpp"

namespace cudal1 {

//! Tests with the real compiler process. It works without a GPU, but not without NVRTC.
class CompileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
    options_.use_cache = false;
  }

  Result<CompiledModule> compile(const std::string& source, std::vector<std::string> kernels = {"k"}) {
    return NvrtcCompiler(options_).compile({source, std::move(kernels), "sm_90"});
  }

  static std::string reason(const Result<CompiledModule>& result) {
    return result.ok() ? "compiled" : std::string(to_string(result.failure().status)) + ": " + result.failure().message;
  }

  NvrtcCompilerOptions options_;
};

}  // namespace cudal1
