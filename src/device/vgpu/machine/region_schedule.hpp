// The order in which an assembler would issue the instructions of a stretch without loops.
#pragma once

#include <vector>

#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {

//! What an instruction does to memory that keeps others from passing it.
enum class MemoryOrder : std::uint8_t { none, constant_load, load, store, barrier };

struct Scheduled {
  double slots = 0;    //!< clocks to issue it
  double latency = 0;  //!< from there until its results can be used
  MemoryOrder order = MemoryOrder::none;
  bool shared = false;  //!< of load and store: not in global memory
  bool alone = false;   //!< a call: nothing else runs until its result is there
};

struct RegionSchedule {
  struct Node {
    std::size_t instruction = 0;
    std::vector<std::size_t> operands;   //!< nodes
    std::vector<std::uint32_t> live_in;  //!< registers that it reads as they were before the region
  };
  std::vector<Node> nodes;         //!< in the order of the program
  std::vector<std::size_t> order;  //!< of nodes, as they are issued
};

//! `region`: instructions in the order of the program, of which the last stays last; several turns of a loop may follow
//! each other. List scheduling: of those whose operands are there, the one with the longest way to the end, as far as
//! the values that wait for their use fit into `registers`, with what comes from before the region. Loads do not pass
//! stores to the same memory, nor anything a call; registers are renamed.
RegionSchedule scheduled(const FunctionFlow& flow, const std::vector<std::size_t>& region,
                         const std::vector<Scheduled>& instructions, std::uint32_t registers);

}  // namespace cudal1::vgpu
