// What NVIDIA's assembler makes of a function of PTX, roughly: the timing model counts what a GPU would issue.
#pragma once

#include <vector>

#include "device/vgpu/machine/machine_work.hpp"
#include "device/vgpu/machine/warp_waits.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! A small loop of which the assembler takes several turns at once, where there are as many.
struct UnrolledLoop {
  std::size_t first = 0;                  //!< its first instruction
  std::vector<std::size_t> entered_from;  //!< instructions outside that may go on to it
  std::vector<std::size_t> instructions;  //!< all of it
  std::vector<MachineWork> work;          //!< of each of them in a turn, where several are taken at once
  std::vector<WarpWaits> waits;           //!< the same
};
inline constexpr int turns_at_once = 4;

struct MachineCode {
  std::vector<MachineWork> work;  //!< of each instruction
  std::vector<WarpWaits> waits;   //!< of each instruction
  std::vector<UnrolledLoop> loops;
};

MachineCode machine_code(const ptx::Function& function);

}  // namespace cudal1::vgpu
