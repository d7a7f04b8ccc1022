// A kind of device as the judge sees it: how to compile for it, where its memory is, which runner serves it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "device/arena.hpp"
#include "device/device.hpp"
#include "runner/runner_process.hpp"

namespace cudal1 {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual bool tensors_on_cuda() const = 0;  //!< where the judge's own tensors live
  virtual Compiler& compiler() = 0;
  virtual RunnerOptions runner_options() = 0;
  virtual std::unique_ptr<Arena> make_arena(std::uint64_t bytes) = 0;  //!< throws DeviceError
  virtual std::uint64_t free_bytes() const = 0;
  //! Waits until the judge's own work on the device is done.
  virtual void synchronize() = 0;
  //! What memory can deliver at the very best; 0 if unknown (then nothing is faster than possible).
  virtual double peak_bytes_per_second() const = 0;
  //! Times are a model's, and equal for equal programs: one call says as much as a hundred.
  virtual bool predicted() const { return false; }
};

//! The GPU with this ordinal. Throws Error in one line when there is none.
std::unique_ptr<Backend> make_cuda_backend(int ordinal, std::unique_ptr<Compiler> compiler);

struct VgpuOptions {
  std::string gpu = "h200";    //!< whose times are predicted: one of vgpu::profile_names(), or a file
  std::string checks = "all";  //!< see vgpu::checks_named
  bool debug = false;          //!< programs may call printf, and their asserts are checked
  //! For a backend that counts and whose results nobody reads: so many blocks of a launch run; 0: all.
  std::uint64_t sample_blocks = 0;
};

//! The virtual GPU. Throws Error for options that mean nothing.
std::unique_ptr<Backend> make_vgpu_backend(std::unique_ptr<Compiler> compiler, const VgpuOptions& options = {});

}  // namespace cudal1
