// What is captured keeps the plan's order and no other. The driver is a made-up one that remembers which node of the
// graph depends on which.
#include "device/cuda/step_capture.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <set>

#include "device/cuda/side_streams.hpp"
#include "program/step_branches.hpp"

namespace cudal1::cuda {
namespace {

using Nodes = std::set<std::size_t>;

//! The rules of stream capture: an event stands for what its stream depends on, and who waits for it depends on that.
struct MadeUpGpu {
  std::map<CUstream, Nodes> captured;  // by stream that takes part: what the next node will depend on
  std::map<CUevent, Nodes> events;
  std::vector<Nodes> before;  // by node: all that come before it
  std::list<char> handles;    // streams and events
  int open = 0;               // of them
  std::vector<CUgraphNode> asked;

  std::size_t add_node(CUstream stream) {
    Nodes all;
    for (const std::size_t node : captured.at(stream)) {
      all.insert(node);
      all.insert(before[node].begin(), before[node].end());
    }
    before.push_back(all);
    captured.at(stream) = {before.size() - 1};
    return before.size() - 1;
  }

  bool is_joined(CUstream first) const {
    Nodes reached = captured.at(first);
    for (const std::size_t node : captured.at(first)) reached.insert(before[node].begin(), before[node].end());
    for (const auto& [stream, nodes] : captured)
      for (const std::size_t node : nodes)
        if (!reached.contains(node)) return false;
    return true;
  }
} gpu;

template <class Handle>
CUresult make_handle(Handle* made) {
  *made = reinterpret_cast<Handle>(&gpu.handles.emplace_back());
  ++gpu.open;
  return CUDA_SUCCESS;
}

CUresult close_handle() {
  --gpu.open;
  return CUDA_SUCCESS;
}

CUresult capture_info(CUstream stream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode** nodes,
                      const CUgraphEdgeData**, std::size_t* count) {
  gpu.asked.clear();
  for (const std::size_t node : gpu.captured.at(stream)) gpu.asked.push_back(reinterpret_cast<CUgraphNode>(node + 1));
  *nodes = gpu.asked.data();
  *count = gpu.asked.size();
  return CUDA_SUCCESS;
}

Driver made_up_driver() {
  Driver table;
  table.cuStreamCreate = [](CUstream* made, unsigned) { return make_handle(made); };
  table.cuEventCreate = [](CUevent* made, unsigned) { return make_handle(made); };
  table.cuStreamDestroy = [](CUstream) { return close_handle(); };
  table.cuEventDestroy = [](CUevent) { return close_handle(); };
  table.cuEventRecord = [](CUevent event, CUstream stream) {
    if (!gpu.captured.contains(stream)) return CUDA_ERROR_INVALID_VALUE;
    gpu.events[event] = gpu.captured[stream];
    return CUDA_SUCCESS;
  };
  table.cuStreamWaitEvent = [](CUstream stream, CUevent event, unsigned) {
    if (!gpu.events.contains(event)) return CUDA_ERROR_INVALID_VALUE;
    gpu.captured[stream].insert(gpu.events[event].begin(), gpu.events[event].end());
    return CUDA_SUCCESS;
  };
  table.cuStreamBeginCapture = [](CUstream stream, CUstreamCaptureMode) {
    gpu.captured = {{stream, {}}};
    return CUDA_SUCCESS;
  };
  table.cuStreamEndCapture = [](CUstream stream, CUgraph*) {
    return gpu.is_joined(stream) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  };
  table.cuGraphDestroy = [](CUgraph) { return CUDA_SUCCESS; };
  table.cuStreamGetCaptureInfo = capture_info;
  return table;
}

Plan random_plan(std::mt19937& random) {
  Plan plan;
  plan.cuda_graph = true;
  plan.buffers.resize(7);
  for (std::size_t steps = random() % 25 + 1; steps > 0; --steps) {
    LaunchStep step;
    for (int i = 0; i < 3; ++i)
      step.args.emplace_back(TensorRef{static_cast<int>(random() % plan.buffers.size()), 0, {}});
    plan.call.emplace_back(step);
  }
  const auto writes_the_last = [](const LaunchStep&) { return std::vector<bool>{false, false, true}; };
  plan.branches = spread_over_branches(plan, 1 + static_cast<int>(random() % 8), writes_the_last);
  return plan;
}

//! By step: the node that it became.
std::vector<std::size_t> captured_nodes(const Plan& plan) {
  std::vector<std::size_t> nodes;
  SideStreams side_streams;
  CUstream first = nullptr;
  make_handle(&first);
  CapturedCall call(plan);
  StepCapture steps(plan, call, side_streams.behind(first, plan));
  capture(first, [&] {
    for (std::size_t i = 0; i < plan.call.size(); ++i) {
      nodes.push_back(gpu.add_node(steps.begin(i)));
      steps.end(i);
    }
    steps.join();
  });
  close_handle();
  return nodes;
}

TEST(StepCapture, KeepsThePlansOrderAndNoOther) {
  std::mt19937 random(11);
  int side_by_side = 0;
  for (int round = 0; round < 500; ++round) {
    const Plan plan = random_plan(random);
    gpu = {};
    const std::vector<std::size_t> nodes = captured_nodes(plan);
    EXPECT_EQ(gpu.open, 0) << "streams and events are closed";
    const StepOrder order(plan);
    for (std::size_t later = 0; later < nodes.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        ASSERT_EQ(gpu.before[nodes[later]].contains(nodes[earlier]), order.is_before(earlier, later)) << round;
        side_by_side += !order.is_before(earlier, later);
      }
  }
  EXPECT_GT(side_by_side, 1000);
}

TEST(StepCapture, ThrowsWhereStepsDo) {
  gpu = {};
  CUstream first = nullptr;
  make_handle(&first);
  EXPECT_THROW(capture(first, [] { throw Error("no"); }), Error);
}

}  // namespace

const Driver& driver() {
  static const Driver table = made_up_driver();
  return table;
}

void check(CUresult result, const std::string& action, SourcePosition) {
  if (result != CUDA_SUCCESS) throw Error(action);
}

// Of a graph that is launched, which no test here does.
void PreparedLaunch::set_addresses(const std::vector<std::byte*>&) {}
void PreparedLaunch::patch(CUgraphExec, CUgraphNode) {}

}  // namespace cudal1::cuda
