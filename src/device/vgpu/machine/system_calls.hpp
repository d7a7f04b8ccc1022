// Functions that the device itself provides, and that PTX declares only: printf and what a failed assert calls.
#pragma once

#include <string_view>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! The operands of its step are where its arguments lie in local memory, and the result where the result goes: offsets,
//! not slots.
struct SystemFunction {
  Effect effect = nullptr;
  std::size_t arguments = 0, results = 0;
  bool in_order = false;  //!< blocks must call it in their order
};

//! Null for all others.
const SystemFunction* find_system_function(std::string_view name);

}  // namespace cudal1::vgpu
