// The real runner process with the emulated device: limits, faults and what is left behind.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host_backend.hpp"
#include "runner/protocol.hpp"
#include "runner/runner_process.hpp"

namespace cudal1 {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

//! y = f(x) over 64 floats, for any kernel text with the right signature.
struct Fixture {
  Plan plan;
  std::unique_ptr<Arena> arena = make_host_arena(1 << 20);
  HostBackend backend;
  CompiledModule module;
  BufferOffsets offsets{4096, 8192};
  std::uint64_t memory_bytes = 0;  // of the host, for the runner; 0: as usual

  explicit Fixture(const std::string& body) {
    const TensorMeta meta{DType::f32, {64}, {1}};
    plan.buffers = {{"x", BufferRole::input, meta, false, false}, {"y", BufferRole::output, meta, false, false}};
    plan.values = {{0, 0, meta}, {1, 0, meta}};
    plan.outputs = {1};
    LaunchStep launch;
    launch.kernel = "f";
    launch.block = {64, 1, 1};
    launch.args = {plan.values[0], plan.values[1]};
    plan.call.emplace_back(launch);
    plan.kernels = {"f"};
    plan.code = "extern \"C\" __global__ void f(const float* x, float* y) { " + body + " }";
    module = backend.compiler().compile({plan.code, plan.kernels, "host"}).value();
  }

  RunnerProcess start() {
    RunnerOptions options = backend.runner_options();
    options.memory_bytes = memory_bytes;
    auto runner = RunnerProcess::start(options);
    if (!runner) throw Error(runner.failure().message);
    return std::move(runner).value();
  }

  RunnerProcess start_and_load() {
    RunnerProcess runner = start();
    EXPECT_TRUE(runner.map(*arena, {arena->bytes(), 0, 0}).ok());
    const auto loaded = runner.load(plan, module, {});
    EXPECT_TRUE(loaded.ok());
    return runner;
  }
};

TEST(Runner, ComputesInTheJudgesMemory) {
  Fixture f("y[threadIdx.x] = 2.0f * x[threadIdx.x];");
  RunnerProcess runner = f.start_and_load();
  auto* x = reinterpret_cast<float*>(f.arena->base() + f.offsets[0]);
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  const auto times = runner.call(f.offsets, 5000ms);
  ASSERT_TRUE(times.ok()) << times.failure().message;
  EXPECT_GT(times.value().device_ms, 0.0);
  const auto* y = reinterpret_cast<const float*>(f.arena->base() + f.offsets[1]);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], 2.0f * static_cast<float>(i));
}

TEST(Runner, IsWokenBeforeItMayUseTheDevice) {
  Fixture f("y[threadIdx.x] = x[threadIdx.x];");
  const RunnerOptions options = f.backend.runner_options();
  auto spawned = RunnerProcess::spawn(options);
  ASSERT_TRUE(spawned.ok());
  RunnerProcess runner = std::move(spawned).value();
  runner.begin_wake(false);
  ASSERT_TRUE(runner.finish().ok());
  runner.begin_start(options);
  ASSERT_TRUE(runner.finish().ok());
  EXPECT_TRUE(runner.map(*f.arena, {f.arena->bytes(), 0, 0}).ok());
  EXPECT_TRUE(runner.load(f.plan, f.module, {}).ok());
}

TEST(Runner, OneThatDiesWhileItIsWokenSaysSo) {
  Fixture f("y[threadIdx.x] = 0.0f;");
  auto spawned = RunnerProcess::spawn(f.backend.runner_options());
  ASSERT_TRUE(spawned.ok());
  ::kill(spawned.value().pid(), SIGKILL);
  spawned.value().begin_wake(true);
  EXPECT_FALSE(spawned.value().finish().ok());
  EXPECT_FALSE(spawned.value().alive());
}

TEST(Runner, IsKilledAtItsLimitAndNotMuchLater) {
  Fixture f("while (((volatile const float*)x)[0] < 1.0f) {} y[threadIdx.x] = 0.0f;");
  RunnerProcess runner = f.start_and_load();
  std::memset(f.arena->base(), 0, f.arena->bytes());
  const auto begin = Clock::now();
  const auto times = runner.call(f.offsets, 500ms);
  EXPECT_LT(Clock::now() - begin, 1500ms);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.failure().status, Status::timeout);
  EXPECT_FALSE(runner.alive());
}

TEST(Runner, ReportsAFaultAsIllegalAccess) {
  Fixture f("((float*)8)[threadIdx.x] = x[0]; y[0] = 0.0f;");
  RunnerProcess runner = f.start_and_load();
  const auto times = runner.call(f.offsets, 5000ms);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.failure().status, Status::illegal_access);
}

TEST(Runner, MayTakeOnlySoMuchOfTheHostsMemory) {
  if (!addresses_can_be_limited) GTEST_SKIP() << "not in a build with sanitizers";
  Fixture f("if (threadIdx.x == 0) y[0] = (new float[std::size_t{1} << 30])[threadIdx.x];");
  f.memory_bytes = std::uint64_t{2} << 30;
  RunnerProcess runner = f.start_and_load();
  const auto times = runner.call(f.offsets, 5000ms);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.failure().status, Status::out_of_memory);
  EXPECT_EQ(times.failure().message, "needs more of the host's memory than the 2.0 GiB that the runner may take");
  EXPECT_FALSE(runner.alive());
}

TEST(Runner, ReportsItsOwnDeathAsACrash) {
  Fixture f("y[threadIdx.x] = x[threadIdx.x];");
  RunnerProcess runner = f.start_and_load();
  ::kill(-runner.pid(), SIGKILL);  // the group: inside bubblewrap the runner is a child of the process we know
  const auto times = runner.call(f.offsets, 5000ms);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.failure().status, Status::crashed);
}

TEST(Runner, IsKilledWhenItStopsReading) {
  Fixture f("y[threadIdx.x] = x[threadIdx.x];");
  RunnerProcess runner = f.start_and_load();
  ::kill(-runner.pid(), SIGSTOP);
  const BufferOffsets more_than_a_socket_holds(1 << 18, 123456789);
  const auto times = runner.call(more_than_a_socket_holds, 300ms);  // forever, if it waited for the reader
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.failure().status, Status::timeout);
  EXPECT_FALSE(runner.alive());
}

TEST(Runner, TakesTheNextPlanAfterUnloading) {
  Fixture f("y[threadIdx.x] = x[threadIdx.x];");
  RunnerProcess runner = f.start_and_load();
  EXPECT_TRUE(runner.unload().ok());
  EXPECT_FALSE(runner.call(f.offsets, 5000ms).ok());
  EXPECT_TRUE(runner.load(f.plan, f.module, {}).ok());
  EXPECT_TRUE(runner.call(f.offsets, 5000ms).ok());
}

TEST(Runner, SaysWhatStepsTakeWhereItIsAsked) {
  Fixture f("y[threadIdx.x] = x[threadIdx.x];");
  RunnerProcess runner = f.start_and_load();
  EXPECT_TRUE(runner.call(f.offsets, 5000ms).value().steps.steps.empty());
  const StepTimes times = runner.call(f.offsets, 5000ms, {.time_steps = true}).value().steps;
  ASSERT_EQ(times.steps.size(), 1u);
  EXPECT_GT(times.steps[0].milliseconds, 0.0);
  EXPECT_TRUE(times.steps[0].resources);
}

TEST(Protocol, StepTimesTravelWhole) {
  StepTimes times{0.002, {{0.5, {}}, {0.25, LaunchResources{64, 16, 1024, 4, 0.5}}}};
  const StepTimes read = protocol::step_times_from_json({{"step_times", protocol::step_times_to_json(times)}});
  EXPECT_EQ(read.empty_ms, 0.002);
  ASSERT_EQ(read.steps.size(), 2u);
  EXPECT_EQ(read.steps[0].milliseconds, 0.5);
  EXPECT_FALSE(read.steps[0].resources);
  ASSERT_TRUE(read.steps[1].resources);
  EXPECT_EQ(read.steps[1].resources->registers, 64);
  EXPECT_EQ(read.steps[1].resources->local_bytes, 16);
  EXPECT_EQ(read.steps[1].resources->shared_bytes, 1024);
  EXPECT_EQ(read.steps[1].resources->resident_blocks, 4);
  EXPECT_EQ(read.steps[1].resources->occupancy, 0.5);
}

TEST(Protocol, StepTimesThatCannotBeAreNone) {
  const nlohmann::json good{{"milliseconds", 1.0}};
  const auto steps_read = [](const nlohmann::json& step_times) {
    return protocol::step_times_from_json({{"step_times", step_times}}).steps.size();
  };
  EXPECT_EQ(steps_read({{"empty_ms", 0.0}, {"steps", {good}}}), 1u);
  EXPECT_EQ(steps_read({{"empty_ms", -1.0}, {"steps", {good}}}), 0u);
  EXPECT_EQ(steps_read({{"empty_ms", 0.0}, {"steps", {good, {{"milliseconds", -1.0}}}}}), 0u);
  EXPECT_EQ(steps_read({{"empty_ms", 0.0}, {"steps", {good, {{"milliseconds", "long"}}}}}), 0u);
  EXPECT_EQ(steps_read({{"empty_ms", 0.0}, {"steps", {good, {{"milliseconds", 1.0}, {"registers", 1}}}}}), 0u);
  EXPECT_EQ(steps_read("nothing"), 0u);
  EXPECT_EQ(protocol::step_times_from_json(nlohmann::json::object()).steps.size(), 0u);
}

TEST(Protocol, AGateThatCannotBeReadMakesTheTimesUseless) {
  EXPECT_EQ(protocol::gate_from_json({{"gate", static_cast<int>(Gate::held)}}), Gate::held);
  EXPECT_EQ(protocol::gate_from_json({{"gate", static_cast<int>(Gate::unused)}}), Gate::unused);
  EXPECT_EQ(protocol::gate_from_json({{"gate", static_cast<int>(Gate::expired)}}), Gate::expired);
  EXPECT_EQ(protocol::gate_from_json({{"gate", 4294967297}}), Gate::expired);
  EXPECT_EQ(protocol::gate_from_json({{"gate", -1}}), Gate::expired);
  EXPECT_EQ(protocol::gate_from_json({{"gate", "held"}}), Gate::expired);
  EXPECT_EQ(protocol::gate_from_json(nlohmann::json::object()), Gate::expired);
}

TEST(Protocol, BelievesNoFailureThatCallsItselfASuccess) {
  EXPECT_EQ(protocol::failure_from_json({{"status", "ok"}, {"message", "all is well"}}).status, Status::crashed);
  EXPECT_EQ(protocol::failure_from_json({{"status", 7}}).status, Status::crashed);
  const Failure failure = protocol::failure_from_json({{"status", "timeout"}, {"message", "a\nb\x1b[31m"}});
  EXPECT_EQ(failure.message.find('\n'), std::string::npos);
  EXPECT_EQ(failure.message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace cudal1
