// A plan on the virtual GPU: kernels are interpreted, op steps run on the processor, both with a predicted time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/op_runtime.hpp"
#include "device/vgpu/call_predictor.hpp"
#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/finding_log.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/vgpu_module.hpp"

namespace cudal1::vgpu {

class VgpuPlan : public LoadedPlan {
 public:
  //! `ops` is null where the plan has no op steps. `sample_blocks`: see VgpuDevice. Throws DeviceError.
  VgpuPlan(Plan plan, const CompiledModule& module, const GpuProfile& gpu, const CheckOptions& checks,
           std::span<std::byte> arena, std::unique_ptr<OpRuntime> ops, std::uint64_t sample_blocks = 0);

  void prepare(const BufferOffsets& offsets) override;
  CallTimes call(const BufferOffsets& offsets, const CallOptions& options) override;

 private:
  void check_launches(const std::vector<cudal1::Step>& steps) const;
  void place(const BufferOffsets& offsets);
  void prepare_steps();
  void call_steps(CallPredictor& predictor);
  KernelCounters run_step(const std::vector<cudal1::Step>& steps, std::size_t index);
  KernelCounters run_launch(const LaunchStep& step, bool preparing, std::uint64_t sample_blocks);
  bool is_sample_enough(std::size_t call_step) const;
  void run_zero(const ZeroStep& step);
  void copy_op_outputs(const BufferOffsets& offsets);

  std::vector<std::byte> parameters_of(const LaunchStep& step, const Kernel& kernel);
  GlobalMemory memory_of(const LaunchStep& step, bool preparing);
  std::byte* host_address(int buffer);
  std::uint64_t device_address(int buffer) const;

  ObserverFactory checks_of(const Launch& launch, const std::string& kernel, const GlobalMemory& memory);
  void note(const KernelFault& fault);
  void forget_written(bool preparing);
  void begin_ops();
  void note_written_by(const OpStep& step);
  [[noreturn]] void refuse(const KernelFault& fault, const LaunchStep& step) const;
  Status status_of(const KernelFault& fault) const;
  bool is_near(std::uint64_t address) const;

  Plan plan_;
  std::vector<std::size_t> call_order_;
  const GpuProfile& gpu_;
  CheckOptions checks_;
  std::span<std::byte> arena_;
  std::unique_ptr<OpRuntime> ops_;
  std::unique_ptr<VgpuModule> module_;  //!< null: the plan has no launches
  BufferOffsets offsets_;
  ScratchMarks written_;
  std::vector<Finding> findings_;
  PrintedText printed_;
  bool watching_ = true;
  std::uint64_t sample_blocks_ = 0;
};

}  // namespace cudal1::vgpu
