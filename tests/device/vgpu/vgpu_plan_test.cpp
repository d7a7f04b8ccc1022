// Plans on the virtual GPU without a judge: what they may ask for, and what is seen while they run.
#include "device/vgpu/vgpu_plan.hpp"

#include <gtest/gtest.h>

#include "device/device.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/vgpu_module.hpp"

namespace cudal1::vgpu {
namespace {

// copy(from, to): 32 threads, each a word. shift does the same, but reads what its neighbour wrote to `to`.
// clear copies a table without initial values. tell prints the first word of `from`. hoard has more local memory than a
// GPU gives a thread, share more shared memory than it gives a block.
constexpr const char* module_text = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[4] = {37, 100, 10, 0};
.const .align 4 .b8 zeros[128];
.entry copy(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;
  ret;
}
.entry shift(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;
  xor.b64 %rd4, %rd2, 4;
  .loc 1 40 2
  ld.global.u32 %r2, [%rd4];
  bar.sync 0;
  st.global.u32 [%rd2], %r2;
  ret;
}
.entry tell(.param .u64 from, .param .u64 to)
{
  .local .align 8 .b8 depot[8];
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd5, [to];
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd5], %r2;
  st.local.u32 [depot], %r2;
  mov.u64 %rd2, depot;
  cvta.local.u64 %rd2, %rd2;
  mov.u64 %rd3, format;
  cvta.global.u64 %rd3, %rd3;
  {
  .param .b64 a;
  st.param.b64 [a], %rd3;
  .param .b64 b;
  st.param.b64 [b], %rd2;
  .param .b32 c;
  call.uni (c), vprintf, (a, b);
  ld.param.b32 %r3, [c];
  }
  .loc 1 60 2
  setp.ne.u32 %p1, %r2, 13;
  @%p1 bra GOOD;
  trap;
GOOD:
  ret;
}
.entry clear(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, zeros;
  add.s64 %rd2, %rd2, %rd1;
  ld.const.u32 %r2, [%rd2];
  ld.param.u64 %rd3, [to];
  add.s64 %rd3, %rd3, %rd1;
  st.global.u32 [%rd3], %r2;
  ret;
}
.entry hoard(.param .u64 from, .param .u64 to)
{
  .local .align 8 .b8 depot[2000000000];
  ret;
}
.entry share(.param .u64 from, .param .u64 to)
{
  .shared .align 1 .b8 array[4294967296];
  ret;
}
)";

constexpr std::size_t words = 32;

class VgpuPlanTest : public ::testing::Test {
 protected:
  VgpuPlanTest() {
    const TensorMeta meta{DType::i32, {words}, {1}};
    for (const auto& [name, role] : {std::pair{"x", BufferRole::input},
                                     {"prepared", BufferRole::prepared},
                                     {"scratch", BufferRole::scratch},
                                     {"y", BufferRole::output}})
      plan_.buffers.push_back({name, role, meta, false, false});
    plan_.kernels = {"copy", "shift", "tell", "clear", "hoard", "share"};
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) offsets_.push_back(1024 * i);
  }

  static LaunchStep launch(const std::string& kernel, int from, int to, std::int64_t threads = words) {
    LaunchStep step;
    step.kernel = kernel;
    step.block = {threads, 1, 1};
    for (const int buffer : {from, to}) {
      TensorRef tensor;
      tensor.buffer = buffer;
      step.args.emplace_back(tensor);
    }
    return step;
  }

  VgpuPlan load() {
    CompiledModule module{module_text, {}, "", 0.0, false};
    for (const std::string& kernel : plan_.kernels) module.symbols[kernel] = kernel;
    return VgpuPlan(plan_, module, gpu_, {}, arena_, nullptr);
  }

  std::int32_t* buffer(std::size_t i) { return reinterpret_cast<std::int32_t*>(arena_.data() + offsets_[i]); }

  const GpuProfile gpu_ = find_profile("h200");
  std::vector<std::byte> arena_ = std::vector<std::byte>(4096);
  Plan plan_;
  BufferOffsets offsets_;
};

enum : int { x, prepared, scratch, y };

//! What is said of a kernel with these lines in it, where it is loaded.
Failure refusal_of(const std::string& lines) try {
  const std::string ptx =
      ".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n";
  VgpuModule(CompiledModule{ptx + lines + "ret;\n}\n", {{"k", "k"}}, "", 0.0, false});
  return {};
} catch (const DeviceError& error) {
  return error.failure;
}

TEST(VgpuModuleTest, WhatIsNotKnownIsRefusedByNameAndLineOfTheProgram) {
  const Failure unknown =
      refusal_of(".loc 1 17 3\nmov.u32 %r1, %r2;\n.loc 1 18 9\nfrobnicate.u32 %r1, %r2;\n.loc 1 19 1\n");
  EXPECT_EQ(unknown.status, Status::unsupported);
  EXPECT_EQ(unknown.message, "the instruction 'frobnicate.u32' is not known");
  EXPECT_EQ(unknown.at.line, 18);
  EXPECT_EQ(refusal_of("frobnicate.u32 %r1, %r2;\n").message,
            "PTX line 8: the instruction 'frobnicate.u32' is not known");
}

TEST(VgpuModuleTest, FunctionsAreNamedAsTheirAuthorWroteThem) {
  const std::string recursive =
      "call _Z1fiPKf, ();\nret;\n}\n.func _Z1fiPKf()\n{\n.local .align 4 .b8 array[64];\n.loc 1 2 1\n"
      "call _Z1fiPKf, ();\n";
  EXPECT_EQ(refusal_of(recursive).message,
            "'f(int, float const*)' calls itself and has local memory, which is not known");
}

TEST(VgpuModuleTest, CallsThroughPointersAreNamedAsSuch) {
  const std::string called = ".loc 1 7 3\nprototype_0: .callprototype ()_ ();\ncall %rd1, (), prototype_0;\n";
  const Failure refused = refusal_of(called);
  EXPECT_EQ(refused.message, "calls through pointers to functions are not known; use templates or a switch");
  EXPECT_EQ(refused.at.line, 7);
}

TEST_F(VgpuPlanTest, WhatIsFoundWhilePreparingIsReportedByTheFirstCall) {
  plan_.prepare = {launch("shift", x, prepared)};
  plan_.call = {launch("copy", prepared, y)};
  VgpuPlan plan = load();
  plan.prepare(offsets_);
  const CallTimes first = plan.call(offsets_, {});
  ASSERT_EQ(first.findings.size(), 1u);
  EXPECT_EQ(first.findings[0].at.line, 40);
  EXPECT_NE(first.findings[0].message.find("race in global memory"), std::string::npos) << first.findings[0].message;
  EXPECT_TRUE(plan.call(offsets_, {}).findings.empty());
}

TEST_F(VgpuPlanTest, PreparingReadsNothingThatNobodyWrote) {
  plan_.prepare = {launch("copy", scratch, prepared)};
  plan_.call = {launch("copy", prepared, y)};
  VgpuPlan plan = load();
  plan.prepare(offsets_);
  const CallTimes first = plan.call(offsets_, {});
  ASSERT_EQ(first.findings.size(), 1u);
  EXPECT_NE(first.findings[0].message.find("uninitialised read"), std::string::npos) << first.findings[0].message;
}

TEST_F(VgpuPlanTest, NothingIsFoundWhereNothingIs) {
  plan_.prepare = {launch("copy", x, prepared)};
  plan_.call = {launch("copy", prepared, scratch), launch("copy", scratch, y)};
  VgpuPlan plan = load();
  buffer(x)[5] = 55;
  plan.prepare(offsets_);
  EXPECT_TRUE(plan.call(offsets_, {}).findings.empty());
  EXPECT_EQ(buffer(y)[5], 55);
}

TEST_F(VgpuPlanTest, ATableWithoutInitialValuesIsZero) {
  plan_.call = {launch("clear", x, y)};
  VgpuPlan plan = load();
  buffer(y)[31] = 55;
  EXPECT_TRUE(plan.call(offsets_, {}).findings.empty());
  EXPECT_EQ(buffer(y)[31], 0);
}

TEST_F(VgpuPlanTest, TheFirstCallShowsWhatWasPrinted) {
  plan_.prepare = {launch("tell", x, prepared, 1)};
  plan_.call = {launch("tell", x, y, 1)};
  VgpuPlan plan = load();
  buffer(x)[0] = 7;
  plan.prepare(offsets_);
  buffer(x)[0] = 8;
  EXPECT_EQ(plan.call(offsets_, {}).printed, "7\n8\n");
  EXPECT_EQ(plan.call(offsets_, {}).printed, "");
}

TEST_F(VgpuPlanTest, AFaultShowsWhatWasPrintedBefore) {
  plan_.call = {launch("tell", x, y, 1)};
  VgpuPlan plan = load();
  buffer(x)[0] = 13;
  try {
    plan.call(offsets_, {});
    FAIL() << "no fault";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure.status, Status::illegal_access);
    EXPECT_EQ(error.failure.details, "13\n");
  }
}

TEST_F(VgpuPlanTest, MoreLocalMemoryThanAGpuHasIsRefusedByItsSize) {
  plan_.call = {launch("hoard", x, y)};
  try {
    load();
    FAIL() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure.status, Status::launch_error);
    EXPECT_EQ(
        error.failure.message,
        "kernel 'hoard': 2000000000 bytes of local memory (arrays of a thread), a GPU has 524288 for each thread");
  }
}

TEST_F(VgpuPlanTest, MoreSharedMemoryThanIsCountedInThirtyTwoBitsIsRefusedByItsSize) {
  plan_.call = {launch("share", x, y)};
  try {
    load();
    FAIL() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure.status, Status::launch_error);
    EXPECT_EQ(error.failure.message,
              "kernel 'share': at least 4294967296 bytes of declared shared memory, a GPU takes 49152");
  }
}

//! The status with which a cluster of this size is refused, or ok.
class VgpuClusters : public VgpuPlanTest {
 protected:
  Status status_of(const Dim3& grid, const Dim3& cluster) try {
    LaunchStep step = launch("copy", x, y);
    step.grid = grid;
    step.cluster = cluster;
    plan_.call = {step};
    load();
    return Status::ok;
  } catch (const DeviceError& error) {
    message_ = error.failure.message;
    return error.failure.status;
  }
  std::string message_;
};

TEST_F(VgpuClusters, AreAsLargeAsPlansMayAskFor) {
  EXPECT_EQ(status_of({16, 1, 1}, {16, 1, 1}), Status::ok) << message_;
  EXPECT_EQ(status_of({4, 4, 1}, {4, 4, 1}), Status::ok) << message_;
  EXPECT_EQ(status_of({32, 1, 1}, {32, 1, 1}), Status::launch_error);
  EXPECT_EQ(status_of({8, 4, 1}, {8, 4, 1}), Status::launch_error);
  EXPECT_EQ(message_, "kernel 'copy': a cluster of 32 blocks, a GPU takes 16");
  EXPECT_EQ(status_of({10, 1, 1}, {4, 1, 1}), Status::launch_error);
}

}  // namespace
}  // namespace cudal1::vgpu
