#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/cuda/mapped_memory.hpp"
#include "device/cuda/module_globals.hpp"
#include "device/cuda/side_streams.hpp"
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
  const ModuleGlobals& globals() const { return globals_; }

 private:
  CUmodule module_ = nullptr;
  ModuleGlobals globals_;
};

class StartGate;

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;
  DeviceInfo info() const override { return info_; }
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  void set_runtime_kernels(const CompiledModule& module) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

  CUstream stream() const { return stream_; }
  //! For branches of graphs. They stay, since libraries keep workspaces for each stream they have seen.
  SideStreams& side_streams() { return side_streams_; }
  std::byte* arena_base() const { return reinterpret_cast<std::byte*>(arena_.address()); }
  int most_resident_threads() const { return most_resident_threads_; }
  const ArenaLayout& layout() const { return layout_; }
  //! Launches the scrub kernel if there is one.
  void scrub() const;
  //! None where no runtime kernels were given.
  StartGate* gate() const { return gate_.get(); }
  void synchronize() const;

 private:
  int ordinal_;
  DeviceInfo info_;
  int most_resident_threads_ = 0;
  CUstream stream_ = nullptr;
  SideStreams side_streams_;
  MappedMemory arena_;
  ArenaLayout layout_;
  std::unique_ptr<Module> runtime_kernels_;
  CUfunction scrub_function_ = nullptr;
  int scrub_shared_bytes_ = 0;
  std::unique_ptr<StartGate> gate_;
};

}  // namespace cudal1::cuda
