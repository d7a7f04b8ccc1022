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
  //! `gpu`: whose times are predicted; a name or a file. `sample_blocks`: of a launch whose results nobody in the call
  //! needs only so many are run, to count what they do, and its results are then not whole; 0: all. Throws Error.
  VgpuDevice(const std::string& gpu, const CheckOptions& checks, std::uint64_t sample_blocks = 0)
      : profile_(find_profile(gpu)), checks_(checks), sample_blocks_(sample_blocks) {}
  DeviceInfo info() const override { return {}; }
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

 private:
  GpuProfile profile_;
  CheckOptions checks_;
  std::uint64_t sample_blocks_;
  HostMapping arena_;
};

}  // namespace cudal1::vgpu
