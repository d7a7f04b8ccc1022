// Runs plans on the processor, so that runner and judge are tested end to end on machines without a GPU. Test
// support only: never offered to users, and no prison for hostile programs.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "device/host_mapping.hpp"
#include "host_device/host_quirks.hpp"

namespace cudal1 {

class HostDevice : public Device {
 public:
  //! From now on a memory fault ends this process with BlockScheduler::fault_exit_code.
  explicit HostDevice(const HostQuirks& quirks = {});

  DeviceInfo info() const override;
  void map_arena(UniqueFd memory, const ArenaLayout& layout) override;
  std::unique_ptr<LoadedPlan> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) override;

 private:
  HostQuirks quirks_;
  ArenaLayout layout_;
  HostMapping arena_;
};

}  // namespace cudal1
