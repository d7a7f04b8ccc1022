// Does the device notice that a program wrote to a variable of its own? The compiler refuses what it can see, so that
// these kernels are compiled without its inspection.
#include "device/cuda/module_globals.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/nvrtc_library.hpp"
#include "compile/nvrtc_location.hpp"
#include "device/cuda/cuda_device.hpp"

namespace cudal1::cuda {
namespace {

class ModuleGlobalsOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (device_count(reason) == 0) GTEST_SKIP() << reason;
    use_primary_context(0);
  }

  static std::string compile(const std::string& source) {
    const auto location = find_nvrtc();
    CompileQuestion question;
    question.source = source;
    question.kernels = {"k"};
    question.options = {"--gpu-architecture=" + device_info(0).target};
    question.nvrtc_library = location->library.string();
    CompileAnswer answer = NvrtcLibrary(question.nvrtc_library).compile(question);
    EXPECT_EQ(answer.outcome, CompileAnswer::Outcome::compiled) << answer.log;
    return answer.cubin;
  }

  //! Loads a kernel `k(int* out, int i)` and runs it once with i = 1.
  void run(const std::string& source) {
    module_ = std::make_unique<Module>(compile(source));
    module_->globals().check_unchanged();
    CUdeviceptr out = 0;
    check(driver().cuMemAlloc(&out, 16), "allocate");
    int one = 1;
    void* parameters[] = {&out, &one};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    check(driver().cuLaunchKernelEx(&config, module_->function("k"), parameters, nullptr), "launch");
    check(driver().cuCtxSynchronize(), "run");
    check(driver().cuMemFree(out), "free");
  }

  void expect_noticed(const std::string& source, const std::string& name) {
    run(source);
    try {
      module_->globals().check_unchanged();
      ADD_FAILURE() << "not noticed: " << source;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.failure.status, Status::forbidden);
      EXPECT_NE(error.failure.message.find(name), std::string::npos) << error.failure.message;
    }
  }

  std::unique_ptr<Module> module_;
};

TEST_F(ModuleGlobalsOnGpu, NoticesAWriteToAVariableOfAnyLinkage) {
  expect_noticed("__device__ int calls; extern \"C\" __global__ void k(int* out, int) { out[0] = ++calls; }", "calls");
  expect_noticed("static __device__ int calls = 3; extern \"C\" __global__ void k(int* out, int) { out[0] = ++calls; }",
                 "calls");
  expect_noticed("extern \"C\" __global__ void k(int* out, int) { static int calls; out[0] = ++calls; }", "calls");
  expect_noticed(
      "__device__ const int table[300] = {1, 2}; extern \"C\" __global__ void k(int* out, int i) { out[0] = table[i];"
      "const_cast<volatile int*>(table)[298 + i] = 7; }",
      "table");
}

TEST_F(ModuleGlobalsOnGpu, LetsTablesBeRead) {
  run("__device__ const int table[3] = {1, 2, 3}; extern \"C\" __global__ void k(int* out, int i) { out[0] = table[i]; "
      "}");
  EXPECT_NO_THROW(module_->globals().check_unchanged());
  run("__constant__ int table[3] = {1, 2, 3}; extern \"C\" __global__ void k(int* out, int i) { out[0] = table[i]; }");
  EXPECT_NO_THROW(module_->globals().check_unchanged());
  run("extern \"C\" __global__ void k(float* out, int i) { out[0] = sinf(i * 1e20f); }");
  EXPECT_NO_THROW(module_->globals().check_unchanged());
}

}  // namespace
}  // namespace cudal1::cuda
