// Which accesses to memory have the same addresses, up to their offset, as one shortly before them.
#pragma once

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! Sets Step::address_repeated where no lane can come between an access and an earlier one with the same pattern, and
//! nothing has written the register that holds the address.
void mark_repeated_addresses(Kernel& kernel);

}  // namespace cudal1::vgpu
