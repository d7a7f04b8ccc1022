// The virtual GPU as a Device.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.hpp"

namespace cudal1::vgpu {

class VgpuDevice : public Device {
 public:
  ~VgpuDevice() override;
  DeviceInfo info() const override { return {}; }
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

 private:
  void unmap_arena();

  ArenaLayout layout_;
  std::byte* arena_ = nullptr;
};

}  // namespace cudal1::vgpu
