// A plan on the tensors and the stream of whoever calls it: what an exported module runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/cuda_plan.hpp"
#include "device/ops/op_steps.hpp"
#include "package/kernel_images.hpp"
#include "package/package_format.hpp"

namespace cudal1 {

//! On one device. One call at a time; each may come on another stream.
class ExportedPlan {
 public:
  //! Throws Error where the device cannot run it.
  ExportedPlan(const PackagedPlan& packaged, KernelImages& kernels, at::Device device);
  ~ExportedPlan();

  //! Weights and states as the package lists them, checked by does_not_fit before. Runs `prepare`.
  void bind(std::vector<at::Tensor> weights, std::vector<at::Tensor> states);
  //! Inputs as the package lists them, checked by does_not_fit before. Throws Error or c10::Error.
  std::vector<at::Tensor> call(const std::vector<at::Tensor>& inputs);

 private:
  struct Call;
  struct Layout {                       //!< of what a call needs beside its outputs, in one piece
    std::vector<std::int64_t> offsets;  //!< by buffer; -1: lies elsewhere
    std::int64_t bytes = 0;
  };
  Layout lay_out(const std::vector<Step>& steps) const;
  void load_kernels(KernelImages& kernels);
  void prepare();
  void place_workspace(const Layout& layout, Call& call) const;
  void allocate_outputs(Call& call) const;
  void set_values(Call& call) const;
  void run_steps(const std::vector<Step>& steps, std::vector<cuda::PreparedLaunch>& launches, Call& call);
  void run_op(std::size_t index, Call& call) const;
  std::vector<at::Tensor> outputs_of(const Call& call) const;
  at::Tensor value_of(ValueId id, const Call& call) const;
  at::Tensor empty_like(const TensorMeta& meta) const;
  void count_writes_of_states() const;

  PackagedPlan packaged_;
  const Plan& plan_;
  at::Device device_;
  std::unique_ptr<cuda::Module> module_;
  std::vector<cuda::PreparedLaunch> prepare_launches_, call_launches_;
  std::optional<OpSteps> op_steps_;
  Layout prepare_layout_, call_layout_;
  std::vector<at::Tensor> bound_;  // by buffer: weights, states and prepared buffers
};

//! Why this tensor cannot stand for the leaf; null if it can.
const char* does_not_fit(const at::Tensor& tensor, const PackagedLeaf& leaf, at::Device device);

}  // namespace cudal1
