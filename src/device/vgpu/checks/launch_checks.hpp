// The sanitiser: all checks of a launch.
#pragma once

#include <memory>

#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/checks/scratch_marks.hpp"
#include "device/vgpu/machine/access_observer.hpp"

namespace cudal1::vgpu {

//! Of one launch; outlives the observers that it makes. Blocks may run on several threads.
class LaunchChecks {
 public:
  virtual ~LaunchChecks() = default;
  virtual std::unique_ptr<AccessObserver> for_block(Index3 index) = 0;
};

//! Null where nothing is to be checked: then nothing needs to be observed.
std::unique_ptr<LaunchChecks> make_observers(const CheckOptions& options, CheckedLaunch launch);

}  // namespace cudal1::vgpu
