// How long a call would take on a GPU, step after step, from what the virtual one counted.
#pragma once

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/model/branch_time.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "device/vgpu/model/l2_contents.hpp"
#include "device/vgpu/vgpu_module.hpp"
#include "program/plan.hpp"

namespace cudal1::vgpu {

class CallPredictor {
 public:
  //! Both must outlive it. Caches are empty at first, as they are in a timed call. Steps are to be added in the plan's
  //! order.
  CallPredictor(const GpuProfile& gpu, const Plan& plan);

  void add_launch(const LaunchStep& step, const LoadedKernel& kernel, const KernelCounters& counters);
  void add_op(const OpStep& step);
  void add_zero(const ZeroStep& step);

  ProfileReport report() const;  //!< of all steps so far, sorted

 private:
  std::vector<TensorMeta> metas_of(const std::vector<ValueId>& values) const;
  double cached(const std::vector<int>& buffers) const;
  void use(const std::vector<int>& buffers);
  double bytes_of(const std::vector<int>& buffers) const;
  void add(const KernelReport& row, const std::vector<int>& buffers);

  const GpuProfile& gpu_;
  const Plan& plan_;
  L2Contents l2_;
  ProfileReport report_;
  std::vector<StepCost> costs_;  // by step
};

}  // namespace cudal1::vgpu
