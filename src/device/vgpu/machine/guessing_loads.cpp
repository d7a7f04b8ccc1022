#include "device/vgpu/machine/guessing_loads.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using Names = std::set<std::string, std::less<>>;

void add_names(const Operand& operand, Names& names) {
  if (operand.kind == Operand::Kind::name) names.insert(operand.name);
  for (const Operand& element : operand.elements) add_names(element, names);
}

bool names_one_of(const Operand& operand, const Names& names) {
  return names.contains(operand.name) ||
         std::ranges::any_of(operand.elements, [&](const Operand& element) { return names.contains(element.name); });
}

//! atom.cas result, [address], expected, value
bool is_compare_and_swap(const Instruction& instruction) {
  return instruction.opcode == "atom" && instruction.operands.size() == 4 &&
         std::ranges::count(instruction.modifiers, "cas") > 0;
}

bool hands_on(const Instruction& instruction) {
  return (instruction.opcode == "mov" || instruction.opcode == "cvt") && instruction.operands.size() == 2;
}

//! Registers that a compare-and-swap expects to find, and those that they are copied from.
Names expected_values(const ptx::Function& function) {
  Names expected;
  for (const Instruction& instruction : function.instructions)
    if (is_compare_and_swap(instruction)) add_names(instruction.operands[2], expected);
  for (std::size_t before = 0; before != expected.size();) {
    before = expected.size();
    for (const Instruction& instruction : function.instructions)
      if (hands_on(instruction) && names_one_of(instruction.operands[0], expected))
        add_names(instruction.operands[1], expected);
  }
  return expected;
}

}  // namespace

std::set<const Instruction*> guessing_loads(const ptx::Function& function) {
  const Names expected = expected_values(function);
  std::set<const Instruction*> found;
  if (expected.empty()) return found;
  for (const Instruction& instruction : function.instructions)
    if (instruction.opcode == "ld" && names_one_of(instruction.operands.at(0), expected)) found.insert(&instruction);
  return found;
}

}  // namespace cudal1::vgpu
