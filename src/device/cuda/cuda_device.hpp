#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/cuda/mapped_memory.hpp"
#include "device/device.hpp"

namespace cudal1::cuda {

//! A loaded cubin.
class Module {
 public:
  explicit Module(const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUfunction function(const std::string& symbol) const;

 private:
  CUmodule module_ = nullptr;
};

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal);
  DeviceInfo info() const override { return info_; }
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  void set_scrub_kernel(const CompiledModule& module) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

  CUstream stream() const { return stream_; }
  std::byte* arena_base() const { return reinterpret_cast<std::byte*>(arena_.address()); }
  const ArenaLayout& layout() const { return layout_; }
  //! Launches the scrub kernel if there is one.
  void scrub() const;
  void synchronize() const;

 private:
  int ordinal_;
  DeviceInfo info_;
  CUstream stream_ = nullptr;
  MappedMemory arena_;
  ArenaLayout layout_;
  std::unique_ptr<Module> scrub_module_;
  CUfunction scrub_function_ = nullptr;
  int scrub_shared_bytes_ = 0;
};

}  // namespace cudal1::cuda
