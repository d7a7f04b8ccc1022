// A PTX entry -> a Kernel.
#pragma once

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! Addresses of the module's variables in global and constant memory.
using VariableAddresses = std::map<std::string, std::uint64_t>;

//! Throws PtxError: what is not known, by name and line.
Kernel decode(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables);

}  // namespace cudal1::vgpu
