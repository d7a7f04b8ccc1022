// What decoding and training need of a GPU besides ATen: kernels of our own on ATen's stream, and work that is recorded
// once and played again. Tests have one that runs kernels on the virtual GPU and everything else on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cudal1 {

//! Tensors are passed as the address of their first element.
using KernelOperand = std::variant<at::Tensor, std::int32_t>;

struct KernelLaunch {
  std::string kernel;
  std::array<std::uint32_t, 2> grid{1, 1};
  std::uint32_t threads = 1;
  std::vector<KernelOperand> arguments;
};

//! Work that was recorded; tensors that it reads and writes must stay where they are.
class RecordedWork {
 public:
  virtual ~RecordedWork() = default;
  virtual void play() = 0;
};

//! One stream, to which all work goes in order. To be used by one thread at a time.
class GpuRuntime {
 public:
  virtual ~GpuRuntime() = default;
  virtual at::Device device() const = 0;
  //! Of the GPU's memory; none where nobody knows.
  virtual std::optional<std::int64_t> free_bytes() const = 0;
  //! Compiles kernels that are extern "C". Throws Error.
  virtual void load_kernels(const std::string& source, const std::vector<std::string>& kernels) = 0;

  //! ATen's work goes to our stream meanwhile; launch, record and play are for calls within.
  virtual void on_stream(const std::function<void()>& work) = 0;
  virtual void launch(const KernelLaunch& launch) = 0;
  //! Runs nothing. The work must have run before, so that libraries have their workspaces. Null where recording is not
  //! possible.
  virtual std::unique_ptr<RecordedWork> record(const std::function<void()>& work) = 0;
  //! Waits until all work is done. Throws Error where some of it failed.
  virtual void synchronise() = 0;
  //! The same for work that this process has on other streams: what somebody else computed can be used then.
  virtual void wait_for_everybody() = 0;
};

}  // namespace cudal1
