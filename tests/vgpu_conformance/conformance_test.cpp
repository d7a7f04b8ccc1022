// Every kernel file on the virtual GPU, against loops on the host.
#include <gtest/gtest.h>

#include "comparison.hpp"
#include "compile/clang_location.hpp"
#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "kernel_folder.hpp"
#include "references.hpp"
#include "virtual_run.hpp"

namespace cudal1::conformance {
namespace {

class OnVirtualGpu : public ::testing::TestWithParam<NamedCase> {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
  }
};

TEST_P(OnVirtualGpu, ComputesWhatTheHostComputes) {
  const Case given = GetParam().load(Size::small);
  Memory expected = initial_memory(given), result = expected;
  find_reference(given.reference)({given, expected});
  const CompiledCase compiled = compile(given);
  run_virtually(given, compiled, result);
  for (const Check& check : given.checks) {
    const auto difference =
        compare(given.buffer(check.buffer), check.reference, result.at(check.buffer), expected.at(check.buffer));
    EXPECT_TRUE(difference.ok()) << difference.message << "; largest difference " << difference.largest;
  }
}

// Right kernels of all kinds: a finding here is a false alarm of the sanitiser, or a race that nobody noticed.
TEST_P(OnVirtualGpu, LeavesTheSanitiserNothingToFind) {
  const Case given = GetParam().load(Size::small);
  Memory memory = initial_memory(given);
  const CompiledCase compiled = compile(given);
  try {
    run_virtually(given, compiled, memory, 0, true);
  } catch (const vgpu::KernelFault& finding) {
    FAIL() << finding.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, OnVirtualGpu, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace cudal1::conformance
