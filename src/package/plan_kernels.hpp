// The kernels of a plan on a GPU, and the memory that they need during a call. No LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/cuda/step_capture.hpp"
#include "package/kernel_images.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! Of what a call needs beside its inputs and outputs, in one piece.
struct Workspace {
  std::vector<std::int64_t> offsets;  //!< by buffer; -1: lies elsewhere
  std::int64_t bytes = 0;

  //! Sets the addresses of all that lies in it.
  void place(std::byte* base, std::vector<std::byte*>& addresses) const;
};

Workspace workspace_of(const Plan& plan, const std::vector<Step>& steps);

//! Steps of a plan with their launches.
struct PlanSteps {
  const std::vector<Step>* steps = nullptr;
  std::vector<cuda::PreparedLaunch> launches;
  Workspace workspace;

  //! Runs the library step with this index on the stream.
  using RunOp = std::function<void(std::size_t index, CUstream stream)>;

  //! On a stream, at these addresses. `capture`: of the call, if that is what runs.
  void run(const Plan& plan, const std::vector<std::byte*>& addresses, CUstream stream, const RunOp& run_op,
           cuda::StepCapture* capture = nullptr);
};

//! Refers to the plan, which must outlive it.
struct PlanKernels {
  std::unique_ptr<cuda::Module> module;
  PlanSteps prepare, call;

  //! Without a GPU, which is for plans of library steps only.
  explicit PlanKernels(const Plan& plan);
  //! Loads the kernels into the current context. Throws Error.
  PlanKernels(const Plan& plan, KernelImages& images, int device);
};

}  // namespace cudal1
