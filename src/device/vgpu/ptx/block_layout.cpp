#include "device/vgpu/ptx/block_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {
namespace {

using Places = std::vector<std::size_t>;

//! Reachable instructions in the flow's order, then all others.
Places order_of(const ptx::Function& function) {
  const FunctionFlow flow(function);
  Places order = flow.order;
  std::vector<bool> placed(function.instructions.size(), false);
  for (const std::size_t i : order) placed[i] = true;
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (!placed[i]) order.push_back(i);
  return order;
}

bool goes_on(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  return instruction.guard ||
         (opcode != "bra" && opcode != "brx" && opcode != "ret" && opcode != "exit" && opcode != "trap");
}

std::string label_of(std::size_t instruction) { return fmt::format("#{}", instruction); }

ptx::Instruction jump(std::size_t to, const ptx::Location& at) {
  ptx::Operand label;
  label.name = label_of(to);
  return {"bra", {"uni"}, std::nullopt, {label}, at};
}

}  // namespace

ptx::Function laid_out(const ptx::Function& function) {
  const Places order = order_of(function);
  if (std::ranges::is_sorted(order)) return function;
  ptx::Function made = function;
  made.instructions.clear();
  Places place(function.instructions.size() + 1);
  std::vector<std::size_t> jumped_to;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = order[k], next = i + 1;
    place[i] = made.instructions.size();
    made.instructions.push_back(function.instructions[i]);
    const bool follows = k + 1 < order.size() ? order[k + 1] == next : next == order.size();
    if (follows || !goes_on(function.instructions[i])) continue;
    made.instructions.push_back(jump(next, function.instructions[i].at));
    jumped_to.push_back(next);
  }
  place.back() = made.instructions.size();
  for (auto& [name, at] : made.labels) at = place[at];
  for (const std::size_t to : jumped_to) made.labels[label_of(to)] = place[to];
  made.rolled_loops.clear();
  for (const std::size_t first : function.rolled_loops) made.rolled_loops.insert(place[first]);
  return made;
}

ptx::Module laid_out(const ptx::Module& module) {
  ptx::Module made = module;
  for (ptx::Function& function : made.functions)
    if (!function.is_declaration) function = laid_out(function);
  return made;
}

}  // namespace cudal1::vgpu
