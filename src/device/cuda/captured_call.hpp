// The steps of a call as one CUDA Graph that runs on other addresses every time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/cuda/prepared_launch.hpp"
#include "program/plan.hpp"

namespace cudal1::cuda {

//! What was captured, and whatever must live as long as the graph does.
struct CapturedGraph {
  CUgraph graph = nullptr;
  std::shared_ptr<void> owner;
};

//! Is somebody capturing this stream? Where nobody can say, since another stream is being captured: true.
bool is_being_captured(CUstream stream);

//! Captures what `run` enqueues on the stream. Throws what `run` throws, and DeviceError.
CapturedGraph capture(CUstream stream, const std::function<void()>& run);

//! Kernels of the program are patched to fresh addresses; what op steps read from outside or leave for outside goes
//! through buffers that stand still. One launch at a time: the next one on another stream has to wait for this one.
class CapturedCall {
 public:
  explicit CapturedCall(const Plan& plan);
  ~CapturedCall();
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;

  //! Inputs and outputs that op steps touch, without those they allocate: to be captured at addresses of their own,
  //! which stay theirs.
  const std::vector<int>& standing() const { return standing_; }
  //! After each launch of a kernel on this stream, while it is captured.
  void note_launch(CUstream stream);
  //! `addresses`: where each buffer lay when this was captured.
  void instantiate(CapturedGraph captured, std::vector<std::byte*> addresses, CUstream stream);

  //! `addresses`: of inputs and outputs; where one of an op step's own outputs is null, nobody wants it.
  void launch(const std::vector<std::byte*>& addresses, std::vector<PreparedLaunch>& launches, CUstream stream);

 private:
  struct Copy {
    std::size_t buffer;
    std::size_t bytes;
  };
  void patch(std::vector<PreparedLaunch>& launches);

  std::vector<int> standing_;
  std::vector<Copy> copies_in_, copies_out_;
  std::vector<std::size_t> moving_;  // buffers that only kernels touch and the caller brings
  std::vector<CUgraphNode> kernel_nodes_;
  std::vector<std::vector<std::uint64_t>> patched_;  // by launch: what its node holds
  std::vector<std::byte*> captured_, present_;       // by buffer
  CapturedGraph graph_;
  CUgraphExec executable_ = nullptr;
};

}  // namespace cudal1::cuda
