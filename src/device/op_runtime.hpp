// How a device runs `op` steps: a plug-in (LibTorch) that only plans with such steps load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "program/plan.hpp"

namespace cudal1 {

struct OpRuntimeOptions {
  bool cuda = false;
  void* stream = nullptr;       //!< CUstream, for cuda
  std::byte* region = nullptr;  //!< memory for everything the library allocates; owned by the judge
  std::size_t region_bytes = 0;
  PrecisionFlags precision;
};

//! In the message of an out_of_memory where `region_bytes` were too few.
inline constexpr const char* region_is_short = "more than its region has";

//! Runs the op steps of one plan. Throws DeviceError.
class OpRuntime {
 public:
  virtual ~OpRuntime() = default;
  //! Starts a call; addresses by buffer index, null for buffers that op steps allocate. Where those lie depends on
  //! `variation`.
  virtual void begin(const std::vector<void*>& addresses, std::uint64_t variation) = 0;
  virtual void run(const OpStep& step, std::size_t step_index) = 0;
  //! A step of Plan::prepare, between begin() and end() as well; results go to the addresses of their buffers.
  virtual void prepare(const OpStep& step, std::size_t step_index) = 0;
  //! Where an op-allocated buffer lies now, in the layout its meta declares.
  virtual void* address_of(int buffer) = 0;
  //! A piece of the region that stays until the runtime goes: fixed buffers of a CUDA Graph.
  virtual void* reserve(std::size_t bytes) = 0;
  //! While a graph with branches is captured: what one stream frees goes to no other, which may run at the same time.
  virtual void keep_streams_apart(bool apart) = 0;
  //! Where steps run from now on (CUstream), for cuda.
  virtual void use_stream(void* stream) = 0;
  //! Frees all that begin() and run() made.
  virtual void end() = 0;
};

using MakeOpRuntime = OpRuntime* (*)(const Plan& plan, const OpRuntimeOptions& options);
inline constexpr const char* make_op_runtime_symbol = "cudal1_make_op_runtime";

//! Opens libcudal1_ops.so beside the executable, which takes longer than anything else at a runner's start and needs no
//! device. Once; throws DeviceError.
void open_op_library();

//! The same, and makes a runtime. Throws DeviceError.
std::unique_ptr<OpRuntime> make_op_runtime(const Plan& plan, const OpRuntimeOptions& options);

}  // namespace cudal1
