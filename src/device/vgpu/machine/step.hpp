// A decoded kernel: what a warp goes through, step by step.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/vgpu/machine/operation.hpp"
#include "device/vgpu/machine/register_map.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

class Warp;
struct Step;

//! Anything that touches more than registers: memory, other lanes.
using Effect = void (*)(Warp& warp, const Step& step, Mask mask);

enum class Flow : std::uint8_t { compute, effect, branch, exit, barrier };

struct Step {
  Flow flow = Flow::compute;
  Operation operation;      //!< of compute; effects use its slots as they like
  Effect effect = nullptr;  //!< of effect
  Slot guard = 0;           //!< a predicate, or 0: always
  bool guard_negated = false;
  std::uint32_t target = 0;    //!< of branch: index of a step
  std::int64_t offset = 0;     //!< of a memory access: added to the address
  std::array<Slot, 4> data{};  //!< of a memory access: the registers that are loaded or stored
  int barrier = 0;             //!< of barrier
  ptx::Location at;
};

//! Special registers, in the order of their slots in Kernel::special.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  count
};

struct Kernel {
  std::string name;
  std::vector<Step> steps;
  std::unique_ptr<RegisterMap> registers;
  std::array<Slot, static_cast<std::size_t>(Special::count)> special{};  //!< 0 for those that it does not read
  std::vector<ptx::Variable> parameters;
  std::map<std::string, std::uint64_t> parameter_offsets;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0, local_bytes = 0;
};

}  // namespace cudal1::vgpu
