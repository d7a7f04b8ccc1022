// Every kernel file on the virtual GPU and on a real one, from the same PTX: the same bits where the hardware defines
// them. CUDAL1_CONFORMANCE_PTX names a folder that `bench/vgpu_rank.sh compile` has made, where there is no clang.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "comparison.hpp"
#include "compile/clang_location.hpp"
#include "cuda_run.hpp"
#include "device/cuda/driver.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "kernel_folder.hpp"
#include "references.hpp"
#include "virtual_run.hpp"

namespace cudal1::conformance {
namespace {

const char* compiled_folder() { return std::getenv("CUDAL1_CONFORMANCE_PTX"); }

class OnBothGpus : public ::testing::TestWithParam<NamedCase> {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
    if (!compiled_folder() && !find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
    cuda::use_primary_context(0);
  }
};

void expect_close(const Case& given, const Check& check, const Bound& bound, const Memory& result,
                  const Memory& expected, const char* other) {
  const auto difference =
      compare(given.buffer(check.buffer), bound, result.at(check.buffer), expected.at(check.buffer));
  EXPECT_TRUE(difference.ok()) << "against " << other << ": " << difference.message;
  std::printf("           %s %s against %s: largest difference %.3g\n", given.name().c_str(), check.buffer.c_str(),
              other, difference.largest);
}

TEST_P(OnBothGpus, ComputeTheSame) {
  const Case given = GetParam().load(Size::small);
  const CompiledCase compiled = compiled_folder() ? load_compiled(compiled_folder(), given) : compile(given);
  const Memory before = initial_memory(given);
  Memory real = before, expected = before, virtually = before;
  run_on_gpu(given, compiled, real);
  find_reference(given.reference)({given, expected});
  for (const Check& check : given.checks) expect_close(given, check, check.reference, real, expected, "the host");
  try {
    run_virtually(given, compiled, virtually);
  } catch (const ptx::UnknownInstruction& refusal) {
    GTEST_SKIP() << refusal.what();
  }
  for (const Check& check : given.checks) expect_close(given, check, check.devices, real, virtually, "the virtual GPU");
}

INSTANTIATE_TEST_SUITE_P(Kernels, OnBothGpus, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace cudal1::conformance
