// Which registers each instruction of a PTX function reads and writes, and what may run after it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

struct FunctionFlow {
  explicit FunctionFlow(const ptx::Function& function);

  struct Instruction {
    std::vector<std::uint32_t> reads, writes;  //!< registers, as indices
    std::vector<std::size_t> next;             //!< instructions; one past the last is the end
    bool guarded = false;                      //!< may leave its results as they were
  };

  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> words;     //!< of 32 bits, by register; 0 for predicates, which have a file of their own
  std::vector<std::size_t> loop_depth;  //!< by instruction: how many loops are around it
  std::vector<std::size_t> order;  //!< instructions that can be reached, loops in one piece, however they are laid out

 private:
  void add_register(const std::string& name, const std::string& type);
  void add_operand(const ptx::Operand& operand, std::vector<std::uint32_t>& registers) const;
  void find_registers(const ptx::Function& function);
  void find_successors(const ptx::Function& function);
  void find_loops();
  void find_order();

  std::map<std::string, std::uint32_t> indices_;
};

//! Where in the flow's order a region begins that the assembler schedules as one: at loops, and where a branch skips
//! more than it would rather guard with a predicate. One more than there are instructions in the order.
std::vector<bool> region_starts(const FunctionFlow& flow);

//! Whether the instruction has this word among those after its name: "ld.global.nc" has "nc".
bool has_modifier(const ptx::Instruction& instruction, const std::string& word);

}  // namespace cudal1::vgpu
