// Runs a task's graph node by node through ATen's dispatcher: in its own dtype (the reference) or in fp64 (the
// oracle), on the CPU or a CUDA device. Includes LibTorch headers; keep its users few.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "graph/task.hpp"

namespace cudal1 {

class AtenCall;

//! PyTorch's own ways to compute the same graph; their largest error is the yardstick of the error budget.
enum class ReferenceVariant {
  standard,       //!< default flags
  deterministic,  //!< deterministic algorithms, cuDNN's included
  no_cudnn,       //!< ATen's own convolutions and norms (CUDA); on the CPU: without oneDNN
  one_thread,     //!< CPU: one thread, so another split of reductions; on CUDA the same as standard
};

//! `--precision`: which lower-precision library modes the reference and `op` steps may use.
enum class PrecisionPolicy { standard, strict, tf32, paper };

//! Tensors by ValueId; undefined where there is none.
using TensorTable = std::vector<at::Tensor>;

//! Computes a node in another way than its operator does, as AtenCall returns it; nothing where it does not.
using Substitute =
    std::function<std::optional<std::vector<at::Tensor>>(const Node&, const AtenCall&, const TensorTable& values)>;

struct ExecutorOptions {
  at::Device device = at::kCPU;
  bool fp64 = false;  //!< the oracle: all floating tensors and `compute` dtypes widened
  ReferenceVariant variant = ReferenceVariant::standard;
  PrecisionPolicy precision = PrecisionPolicy::standard;
  Substitute substitute{};  //!< asked before each operator that draws no random numbers
};

struct ExecutionResult {
  std::vector<at::Tensor> outputs;  //!< as OpGraph::outputs
  std::vector<at::Tensor> states;   //!< as OpGraph::states, after the call
};

//! Sees the results of each node before any other node does, and may replace them; `values` holds what the node read.
using ResultHook = std::function<void(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results)>;

class Executor {
 public:
  //! Resolves every operator once. Throws Error naming the node when an operator or an argument does not exist.
  Executor(const OpGraph& graph, const ExecutorOptions& options);
  ~Executor();
  //! Leaves may be on any device and in the task's own dtype; they are not modified (states are copied).
  ExecutionResult run(const TensorTable& leaves, const ResultHook& hook = {}) const;

 private:
  struct Resolved;
  std::unique_ptr<Resolved> resolved_;
};

//! Runs the graph on meta tensors: fills sizes, strides, dtypes and views of all node outputs, and compares them
//! with what the file declares. Throws Error naming the node.
void infer_metas(Task& task);

}  // namespace cudal1
