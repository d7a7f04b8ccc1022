// The virtual GPU as a Device.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "device/host_mapping.hpp"
#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {

class VgpuDevice : public Device {
 public:
  //! `gpu`: whose times are predicted; a name or a file. Throws Error.
  VgpuDevice(const std::string& gpu, const CheckOptions& checks) : profile_(find_profile(gpu)), checks_(checks) {}
  DeviceInfo info() const override { return {}; }
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

 private:
  GpuProfile profile_;
  CheckOptions checks_;
  HostMapping arena_;
};

}  // namespace cudal1::vgpu
