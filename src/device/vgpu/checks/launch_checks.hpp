// The sanitiser: all checks of a launch.
#pragma once

#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/checks/scratch_marks.hpp"
#include "device/vgpu/machine/access_observer.hpp"

namespace cudal1::vgpu {

//! Of one launch; it must outlive the observers that it makes. Empty where nothing is to be checked.
ObserverFactory make_observers(const CheckOptions& options, CheckedLaunch launch);

}  // namespace cudal1::vgpu
