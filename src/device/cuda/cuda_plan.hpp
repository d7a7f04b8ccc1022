#pragma once

#include <map>
#include <memory>
#include <vector>

#include "device/cuda/captured_call.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/gate_limit.hpp"
#include "device/cuda/prepared_launch.hpp"
#include "device/cuda/start_gate.hpp"
#include "device/cuda/step_capture.hpp"
#include "device/cuda/step_clock.hpp"
#include "device/op_runtime.hpp"

namespace cudal1::cuda {

class CudaPlan : public LoadedPlan {
 public:
  CudaPlan(CudaDevice& device, const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  ~CudaPlan() override;
  void prepare(const BufferOffsets& offsets) override;
  CallTimes call(const BufferOffsets& offsets, const CallOptions& options) override;

 private:
  //! After a call: nothing that it left in caches or device globals may help the next.
  void finish();
  void place(const BufferOffsets& offsets);
  //! `clock`: ticks around every step; may be null.
  CallTimes time_call(const BufferOffsets& offsets, StartGate* gate, StepClock* clock);
  //! `capture`: of the call, if that is what runs.
  void run_steps(const std::vector<Step>& steps, std::vector<PreparedLaunch>& launches, StepClock* clock = nullptr,
                 StepCapture* capture = nullptr);
  StepTimes step_times(const StepClock& clock) const;
  void run_op(const OpStep& step, std::size_t index);
  void copy_op_outputs(const BufferOffsets& offsets);
  using States = std::map<std::size_t, std::vector<std::byte>>;  // by buffer, on the host
  States save_states() const;
  void restore_states(const States& states) const;
  void warm_up(const BufferOffsets& offsets);
  void build_graph(const BufferOffsets& offsets);
  CapturedGraph captured_steps(CapturedCall& made);
  void launch_graph(const BufferOffsets& offsets);
  void drop_graph();
  std::byte* fixed_buffer(int buffer);
  void begin_ops(const BufferOffsets& offsets);

  CudaDevice& device_;
  Plan plan_;
  std::unique_ptr<Module> module_;
  std::vector<PreparedLaunch> prepare_launches_, call_launches_;
  std::unique_ptr<OpRuntime> ops_;
  std::vector<std::byte*> addresses_;  // by buffer, for the call under way
  std::unique_ptr<CapturedCall> graph_;
  std::map<int, std::byte*> fixed_buffers_;  // for graphs: made once, since a recapture uses them again
  GateLimit gate_limit_;
  CUevent start_ = nullptr, stop_ = nullptr;
  StepClock step_clock_;
};

}  // namespace cudal1::cuda
