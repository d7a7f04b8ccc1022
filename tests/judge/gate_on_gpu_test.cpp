// Is the device held back until a call is enqueued, and let go where that cannot be?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "graph/executor.hpp"
#include "judge/task_context.hpp"
#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds call_limit{60000};

//! x -> neg -> neg -> …
Task chain_of(int nodes, int elements) {
  std::string list, previous = "x";
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = fmt::format("neg_{}", i);
    list += fmt::format(R"({}{{"name": "{}", "op": "aten::neg", "args": ["{}"]}})", i > 1 ? ", " : "", name, previous);
    previous = name;
  }
  Task task =
      parse_task(fmt::format(R"({{"format": "cudal1.graph", "version": 1, "name": "chain", "inputs": [{{"name": "x",
        "dtype": "f32", "shape": [{}], "draw": {{"kind": "normal", "mean": 0, "std": 1}}}}],
        "nodes": [{}], "outputs": ["{}"]}})",
                             elements, list, previous),
                 {});
  infer_metas(task);
  return task;
}

TEST(Chain, IsATask) { EXPECT_EQ(chain_of(3, 8).graph.nodes.size(), 3u); }

class GateOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
    backend_ = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  }

  std::vector<CallTimes> calls(TaskContext& context, bool hold, int count) {
    const TensorTable constants = context.draw_constants(1, false);
    context.set_reference_constants(constants);
    context.reference().hold_device(hold);
    std::vector<CallTimes> made;
    for (int i = 0; i < count; ++i) {
      const TensorTable leaves = context.with_inputs(constants, Distribution::native, 2);
      auto times = context.reference().call(leaves, Poison::not_a_number, call_limit, true);
      if (!times) throw Error(times.failure().message);
      made.push_back(times.value());
    }
    return made;
  }

  static double median_device_ms(const std::vector<CallTimes>& calls) {
    std::vector<double> milliseconds;
    for (const CallTimes& call : calls) milliseconds.push_back(call.device_ms);
    return median(milliseconds);
  }

  std::unique_ptr<Backend> backend_;
};

TEST_F(GateOnGpu, KeepsTheHostOutOfTheDevicesTime) {
  TaskContext context(*backend_, chain_of(20, 1024), PrecisionPolicy::standard, 3);
  const auto free = calls(context, false, 40), held = calls(context, true, 40);
  int waited = 0;
  for (const CallTimes& call : held) waited += call.gate == Gate::held ? 1 : 0;
  for (const CallTimes& call : free) EXPECT_EQ(call.gate, Gate::unused);
  EXPECT_GE(waited, 30);
  // Twenty library calls take the host more than twice what these tiny kernels take the device.
  EXPECT_LT(median_device_ms(held), 0.7 * median_device_ms(free));
}

TEST_F(GateOnGpu, LetsGoOfACallThatTheQueueDoesNotHold) {
  TaskContext context(*backend_, chain_of(3000, 1024), PrecisionPolicy::standard, 3);
  const auto begin = std::chrono::steady_clock::now();
  const auto made = calls(context, true, 10);
  EXPECT_EQ(made.back().gate, Gate::unused);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(calls(context, true, 1).back().gate, Gate::unused);
}

}  // namespace
}  // namespace cudal1
