#pragma once

#include <map>
#include <memory>
#include <vector>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/gate_limit.hpp"
#include "device/cuda/start_gate.hpp"
#include "device/cuda/step_clock.hpp"
#include "device/op_runtime.hpp"

namespace cudal1::cuda {

//! A launch with its function found and its parameters laid out; addresses are filled in at each call.
class PreparedLaunch {
 public:
  PreparedLaunch(const LaunchStep& step, const Module& module, const CompiledModule& compiled);
  void set_addresses(const std::vector<std::byte*>& addresses);
  void launch(CUstream stream);
  //! Puts the present parameters into the node of an instantiated graph.
  void patch(CUgraphExec graph, CUgraphNode node);
  //! `most_resident_threads`: of a multiprocessor.
  LaunchResources resources(int most_resident_threads) const;

 private:
  struct Pointer {
    std::size_t argument;
    int buffer;
    std::int64_t byte_offset;
  };
  void check_against_function(const LaunchStep& step) const;
  LaunchStep step_;
  CUfunction function_ = nullptr;
  CUlaunchConfig config_{};
  CUlaunchAttribute cluster_{};
  std::vector<std::uint64_t> values_;  // one slot an argument; smaller ones use the first bytes
  std::vector<void*> parameters_;
  std::vector<Pointer> pointers_;
};

//! The launches among these steps, in order; `module` may be null where there are none.
std::vector<PreparedLaunch> launches_of(const std::vector<Step>& steps, const Module* module,
                                        const CompiledModule& compiled);

void zero_async(std::byte* address, const Buffer& buffer, CUstream stream);

class CudaPlan : public LoadedPlan {
 public:
  CudaPlan(CudaDevice& device, const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  ~CudaPlan() override;
  void prepare(const BufferOffsets& offsets) override;
  CallTimes call(const BufferOffsets& offsets, const CallOptions& options) override;

 private:
  struct GraphState;
  //! After a call: nothing that it left in caches or device globals may help the next.
  void finish();
  void place(const BufferOffsets& offsets);
  //! `clock`: ticks around every step; may be null.
  CallTimes time_call(const BufferOffsets& offsets, StartGate* gate, StepClock* clock);
  void run_steps(const std::vector<Step>& steps, std::vector<PreparedLaunch>& launches, StepClock* clock = nullptr);
  StepTimes step_times(const StepClock& clock) const;
  void run_op(const OpStep& step, std::size_t index);
  void copy_op_outputs(const BufferOffsets& offsets);
  using States = std::map<std::size_t, std::vector<std::byte>>;  // by buffer, on the host
  States save_states() const;
  void restore_states(const States& states) const;
  void warm_up(const BufferOffsets& offsets);
  void build_graph(const BufferOffsets& offsets);
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
  std::unique_ptr<GraphState> graph_;
  std::map<int, std::byte*> fixed_buffers_;  // for graphs: made once, since a recapture uses them again
  GateLimit gate_limit_;
  CUevent start_ = nullptr, stop_ = nullptr;
  StepClock step_clock_;
};

}  // namespace cudal1::cuda
