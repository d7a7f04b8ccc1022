// Which functions a kernel calls, from where, and which of them call themselves.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! What a call names: `call (result), function, (arguments)`; null pointers where there are none.
struct CallOperands {
  const ptx::Operand* function = nullptr;
  const ptx::Operand *results = nullptr, *arguments = nullptr;
};
//! Throws PtxError.
CallOperands operands_of_call(const ptx::Instruction& call);

struct CallPlan {
  //! Those that are called come before those that call them, so that lanes in a function are ahead of none that wait
  //! for them behind the call; the kernel is the last.
  std::vector<const ptx::Function*> order;
  std::map<const ptx::Instruction*, std::uint32_t> sites;           //!< every call of them, with a number of its own
  std::map<const ptx::Instruction*, const ptx::Function*> callees;  //!< of each
  std::set<const ptx::Function*> recursive;
  bool any = false;  //!< calls at all, those of the device's own functions included
};
//! Throws PtxError: calls of what is not in the module, or through pointers.
CallPlan plan_calls(const ptx::Module& module, const ptx::Function& entry);

}  // namespace cudal1::vgpu
