// A plan on the tensors and the stream of whoever calls it: what an exported module runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/ops/op_steps.hpp"
#include "package/package_format.hpp"
#include "package/plan_kernels.hpp"
#include "package/stream_graphs.hpp"

namespace cudal1 {

//! On one device, which must be the current one whenever something is asked of it. One call at a time; each may come on
//! another stream.
class ExportedPlan {
 public:
  //! `packaged` must outlive it. Throws Error where the device cannot run it.
  ExportedPlan(const PackagedPlan& packaged, KernelImages& kernels, at::Device device);
  ~ExportedPlan();

  //! Weights and states as the package lists them, checked by does_not_fit before. Runs `prepare` and waits for it, so
  //! that calls may come on any stream.
  void bind(at::TensorList weights, at::TensorList states);
  //! Inputs as the package lists them, checked by does_not_fit before. Throws Error or c10::Error.
  std::vector<at::Tensor> call(at::TensorList inputs);

 private:
  struct Call {
    std::vector<std::byte*> addresses;  // by buffer
    std::vector<at::Tensor> owners;     // by buffer: what this call was given or makes
    at::Tensor workspace;
    OpValues values;
    CUstream stream = nullptr;

    void place(std::size_t buffer, const at::Tensor& tensor);
  };
  using Graphs = StreamGraphs<Call>;

  void prepare();
  Call begin_call(at::TensorList inputs) const;
  void allocate_outputs(Call& call, bool of_op_steps) const;
  void place_workspace(const Workspace& workspace, Call& call) const;
  void set_values(Call& call) const;
  void run_step_by_step(Call& call, cuda::StepCapture* capture = nullptr);
  void run_op(std::size_t index, CUstream stream, Call& call) const;
  bool run_as_graph(Call& call);
  cuda::CapturedCall* graph_for(const Call& call);
  std::unique_ptr<Graphs::Graph> captured_for(const Call& call);
  std::vector<at::Tensor> outputs_of(const Call& call) const;
  const at::Tensor& owner_of(std::size_t buffer, const Call& call) const;
  at::Tensor value_of(ValueId id, const Call& call) const;
  at::Tensor empty_like(const TensorMeta& meta) const;
  void count_writes_of_states() const;

  const PackagedPlan& packaged_;
  const Plan& plan_;
  at::Device device_;
  PlanKernels kernels_;
  std::optional<OpSteps> op_steps_;
  std::vector<at::Tensor> bound_;            // by buffer: weights, states and prepared buffers
  std::vector<std::byte*> bound_addresses_;  // by buffer
  bool has_run_ = false;
  bool can_be_captured_ = true;
  Graphs graphs_;
};

//! Why this tensor cannot stand for the leaf; null if it can.
const char* does_not_fit(const at::Tensor& tensor, const PackagedLeaf& leaf, at::Device device);

//! What stands for the leaf in calls on this device: constants, which no module moves, are copied there.
at::Tensor placed(const at::Tensor& weight, const PackagedLeaf& leaf, at::Device device);

//! Is the caller capturing the current stream of this GPU into a CUDA Graph?
bool is_being_captured(at::Device device);

}  // namespace cudal1
