// Where plans run. Used by the runner process only; the judge never loads candidate code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "compile/compiler.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! What went wrong on a device, with the status it means. `fatal`: this process cannot run another candidate.
class DeviceError : public Error {
 public:
  DeviceError(Status status, const std::string& message, bool is_fatal, SourcePosition at = {},
              std::string details = {})
      : Error(message), failure{status, message, at, std::move(details)}, fatal(is_fatal) {}
  Failure failure;
  bool fatal;
};

struct DeviceInfo {
  std::string name;  //!< "NVIDIA H200"
  std::string uuid;
  std::string target;  //!< for the compiler: "sm_90"
  int multiprocessors = 0;
  double clock_ghz = 0.0;  //!< the highest; 0: unknown
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

//! The judge's memory as the runner sees it: everything a candidate reads or writes lies in here.
struct ArenaLayout {
  std::size_t bytes = 0;
  std::size_t op_region_offset = 0;  //!< where op steps allocate
  std::size_t op_region_bytes = 0;
};

//! Room in the arena beyond what buffers need, for them to be somewhere else in every call.
inline constexpr std::uint64_t roaming_bytes = std::uint64_t{64} << 20;

inline constexpr std::uint64_t no_offset = UINT64_MAX;
//! By buffer index: offset in the arena. For buffers that op steps allocate: no_offset, or (outputs) where the
//! result is copied to: after the clock has stopped, or inside a CUDA Graph, whose users need fresh outputs.
using BufferOffsets = std::vector<std::uint64_t>;

//! Which lower-precision modes the library may use in op steps.
struct PrecisionFlags {
  bool tf32_convolution = true;  //!< PyTorch's default
  bool tf32_matmul = false;
};

//! Did the device wait until the whole call was enqueued?
enum class Gate {
  unused,   //!< no: the device's time holds what it waited for the host
  held,     //!< yes: the device's time is its own
  expired,  //!< not long enough: the times are of no use
};

//! What does not show in results: a race, a read of memory that nobody wrote. Only a device that watches every access
//! finds any.
struct Finding {
  std::string message;
  SourcePosition at;
};

//! What a launch takes of a multiprocessor.
struct LaunchResources {
  int registers = 0;              //!< of a thread
  std::int64_t local_bytes = 0;   //!< of a thread: its arrays, and what did not fit into registers
  std::int64_t shared_bytes = 0;  //!< of a block
  int resident_blocks = 0;        //!< that fit on a multiprocessor at once
  double occupancy = 0.0;         //!< warps that fit on a multiprocessor, of those it can hold
};

struct StepTime {
  double milliseconds = 0.0;                 //!< from the clock's tick before the step to the one after it
  std::optional<LaunchResources> resources;  //!< of launches
};

//! What each step of a call took on the device.
struct StepTimes {
  double empty_ms = 0.0;        //!< what two ticks take that have nothing in between
  std::vector<StepTime> steps;  //!< as Plan::call; empty where nobody asked, or the device cannot say
};

struct CallTimes {
  double device_ms = 0.0;   //!< device events right around the call
  double host_ms = 0.0;     //!< host clock from when the device may start to the end of a device-wide synchronisation
  double enqueue_ms = 0.0;  //!< host clock around enqueueing the call; for information
  Gate gate = Gate::unused;
  std::vector<Finding> findings;
  std::string printed;  //!< by the program's kernels; only a device that allows it has any
  std::string profile;  //!< where the time goes, as JSON (vgpu::ProfileReport); empty where the device cannot say
  StepTimes steps;
};

struct CallOptions {
  bool warm_launch = true;   //!< one untimed launch of ours before the window
  bool hold_device = false;  //!< until the call is enqueued, where the device can
  bool time_steps = false;   //!< each alone, and none inside a CUDA Graph
};

//! A plan with its module loaded.
class LoadedPlan {
 public:
  virtual ~LoadedPlan() = default;
  virtual void prepare(const BufferOffsets& offsets) = 0;
  //! One call; returns when the device is idle.
  virtual CallTimes call(const BufferOffsets& offsets, const CallOptions& options) = 0;
};

//! All functions throw DeviceError.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  virtual void map_arena(UniqueFd memory, const ArenaLayout& layout) = 0;
  //! Kernels of our own that run before each call (device/cuda/runtime_kernels.hpp). Devices that need none ignore
  //! them.
  virtual void set_runtime_kernels(const CompiledModule&) {}
  virtual std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) = 0;
};

}  // namespace cudal1
