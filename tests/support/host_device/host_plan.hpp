#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/op_runtime.hpp"
#include "host_device/block_scheduler.hpp"

namespace cudal1 {

//! A program's shared library, loaded from memory.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& binary);
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;
  ~HostLibrary();
  const cudal1_host::Kernel* kernel(const std::string& symbol) const;
  //! Where the program's static shared variables lie, for the thread that loaded it.
  std::span<std::byte> static_shared() const { return static_shared_; }

 private:
  UniqueFd memory_;  //!< open while loaded: the loader knows libraries by name, here the descriptor's number
  void* handle_ = nullptr;
  std::span<std::byte> static_shared_;
};

class HostPlan : public LoadedPlan {
 public:
  HostPlan(Plan plan, const CompiledModule& module, std::span<std::byte> arena, std::unique_ptr<OpRuntime> op_runtime);

  void prepare(const BufferOffsets& offsets) override;
  CallTimes call(const BufferOffsets& offsets, const CallOptions& options) override;

 private:
  void set_addresses(const BufferOffsets& offsets);
  StepTimes run_steps(const std::vector<Step>& steps);
  void run_step(const LaunchStep& step);
  void run_step(const ZeroStep& step);
  void copy_op_outputs(const BufferOffsets& offsets);
  void* address_of(int buffer);
  std::byte* arena_address(const Buffer& buffer, std::uint64_t offset) const;

  Plan plan_;
  std::unique_ptr<HostLibrary> library_;
  std::map<std::string, const cudal1_host::Kernel*> kernels_;
  std::span<std::byte> arena_;
  std::unique_ptr<OpRuntime> op_runtime_;  //!< null: the plan has no op steps
  std::vector<void*> addresses_;           //!< by buffer; null where an op step allocates
};

}  // namespace cudal1
