// Where plans run. Used by the runner process only; the judge never loads candidate code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  DeviceError(Status status, const std::string& message, bool is_fatal, SourcePosition at = {})
      : Error(message), failure{status, message, at, {}}, fatal(is_fatal) {}
  Failure failure;
  bool fatal;
};

struct DeviceInfo {
  std::string name;  //!< "NVIDIA H200"
  std::string uuid;
  std::string target;  //!< for the compiler: "sm_90"
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

//! The judge's memory as the runner sees it: everything a candidate reads or writes lies in here.
struct ArenaLayout {
  std::size_t bytes = 0;
  std::size_t op_region_offset = 0;  //!< where op steps allocate
  std::size_t op_region_bytes = 0;
};

inline constexpr std::uint64_t no_offset = UINT64_MAX;
//! By buffer index: offset in the arena. For buffers that op steps allocate: no_offset, or (outputs) where the
//! result is copied to: after the clock has stopped, or inside a CUDA Graph, whose users need fresh outputs.
using BufferOffsets = std::vector<std::uint64_t>;

//! Which lower-precision modes the library may use in op steps.
struct PrecisionFlags {
  bool tf32_convolution = true;  //!< PyTorch's default
  bool tf32_matmul = false;
};

struct CallTimes {
  double device_ms = 0.0;  //!< device events right around the call
  double host_ms = 0.0;    //!< host clock from the call to the end of a device-wide synchronisation
  //! Host clock from the call until all its work is enqueued: trusted code only, so it tells how fast the host was.
  double enqueue_ms = 0.0;
};

struct CallOptions {
  bool warm_launch = true;  //!< one untimed launch of ours before the window
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
  //! Our own kernel that fills every multiprocessor's shared memory with poison: the untimed launch before each
  //! window. Devices without such memory ignore it.
  virtual void set_scrub_kernel(const CompiledModule&) {}
  virtual std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) = 0;
};

}  // namespace cudal1
