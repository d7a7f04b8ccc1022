#include "device/cuda/captured_call.hpp"

#include <set>

#include "device/cuda/stream_memory.hpp"

namespace cudal1::cuda {
namespace {

std::set<int> touched_by_ops(const Plan& plan) {
  std::set<int> touched;
  for (const Step& step : plan.call)
    if (std::holds_alternative<OpStep>(step))
      for (const int buffer : buffers_of(plan, step)) touched.insert(buffer);
  return touched;
}

}  // namespace

bool is_being_captured(CUstream stream) {
  CUstreamCaptureStatus status{};
  const CUresult result = driver().cuStreamIsCapturing(stream, &status);
  return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

CapturedGraph capture(CUstream stream, const std::function<void()>& run) {
  check(driver().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "begin the capture");
  CUgraph graph = nullptr;
  try {
    run();
  } catch (...) {
    driver().cuStreamEndCapture(stream, &graph);
    if (graph) driver().cuGraphDestroy(graph);
    throw;
  }
  check(driver().cuStreamEndCapture(stream, &graph), "end the capture");
  return {graph, std::shared_ptr<void>(graph, [](void* made) { driver().cuGraphDestroy(static_cast<CUgraph>(made)); })};
}

CapturedCall::CapturedCall(const Plan& plan) {
  const std::set<int> by_ops = touched_by_ops(plan);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    const Copy copy{i, static_cast<std::size_t>(buffer.meta.span_bytes())};
    const bool is_input = buffer.role == BufferRole::input, is_output = buffer.role == BufferRole::output;
    const bool shared = by_ops.contains(static_cast<int>(i));
    if (shared && (is_input || is_output) && !buffer.allocated_by_op) standing_.push_back(static_cast<int>(i));
    if (copy.bytes > 0 && shared && is_input) copies_in_.push_back(copy);
    if (copy.bytes > 0 && is_output && (shared || buffer.allocated_by_op)) copies_out_.push_back(copy);
    // Kernels read fresh inputs directly, but what op steps share with them stays where it was captured.
    if (is_input || (is_output && !shared && !buffer.allocated_by_op)) moving_.push_back(i);
  }
}

CapturedCall::~CapturedCall() {
  if (executable_) driver().cuGraphExecDestroy(executable_);
}

void CapturedCall::note_launch(CUstream stream) {
  CUstreamCaptureStatus status{};
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  check(driver().cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count),
        "capture the graph");
  if (count != 1) throw DeviceError(Status::judge_error, "a launch left no node of its own in the graph", false);
  kernel_nodes_.push_back(nodes[0]);
}

void CapturedCall::instantiate(CapturedGraph captured, std::vector<std::byte*> addresses, CUstream stream) {
  graph_ = std::move(captured);
  captured_ = std::move(addresses);
  present_ = captured_;
  check(driver().cuGraphInstantiate(&executable_, graph_.graph, 0), "instantiate the graph");
  check(driver().cuGraphUpload(executable_, stream), "upload the graph");
}

void CapturedCall::patch(std::vector<PreparedLaunch>& launches) {
  patched_.resize(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i].set_addresses(present_);
    if (patched_[i] == launches[i].parameters()) continue;
    launches[i].patch(executable_, kernel_nodes_[i]);
    patched_[i] = launches[i].parameters();
  }
}

void CapturedCall::launch(const std::vector<std::byte*>& addresses, std::vector<PreparedLaunch>& launches,
                          CUstream stream) {
  for (const Copy& copy : copies_in_) copy_async(captured_[copy.buffer], addresses[copy.buffer], copy.bytes, stream);
  for (const std::size_t buffer : moving_) present_[buffer] = addresses[buffer];
  patch(launches);
  check(driver().cuGraphLaunch(executable_, stream), "launch the graph");
  for (const Copy& copy : copies_out_)
    if (addresses[copy.buffer]) copy_async(addresses[copy.buffer], captured_[copy.buffer], copy.bytes, stream);
}

}  // namespace cudal1::cuda
