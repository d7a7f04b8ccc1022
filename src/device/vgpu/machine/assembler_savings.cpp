#include "device/vgpu/machine/assembler_savings.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace cudal1::vgpu {
namespace {

bool is_whole_number(const ptx::Instruction& instruction) {
  static const std::set<std::string> types{"s32", "u32", "b32", "s64", "u64", "b64"};
  return !instruction.modifiers.empty() && types.contains(instruction.modifiers.back());
}

//! One register and numbers, put together by multiplications and additions.
bool is_linear(const ptx::Instruction& instruction, const FunctionFlow::Instruction& flow) {
  static const std::set<std::string> opcodes{"add", "sub", "mul", "mad", "shl"};
  if (instruction.guard || !opcodes.contains(instruction.opcode) || !is_whole_number(instruction)) return false;
  if (has_modifier(instruction, "hi") || has_modifier(instruction, "wide")) return false;
  return flow.reads.size() == 1 && flow.writes.size() == 1;
}

struct Uses {
  explicit Uses(const FunctionFlow& flow) : reads(flow.words.size()), writes(flow.words.size()) {
    for (std::size_t i = 0; i < flow.instructions.size(); ++i) {
      for (const std::uint32_t read : flow.instructions[i].reads) ++reads[read];
      for (const std::uint32_t written : flow.instructions[i].writes) {
        ++writes[written];
        writer[written] = i;
      }
    }
  }
  std::vector<int> reads, writes;  //!< by register
  std::map<std::uint32_t, std::size_t> writer;
};

bool divides_whole_numbers(const ptx::Instruction& instruction) {
  return (instruction.opcode == "div" || instruction.opcode == "rem") &&
         (has_modifier(instruction, "s32") || has_modifier(instruction, "u32"));
}

//! Written nowhere at this depth of loops or deeper: enough to tell what a loop leaves alone.
bool is_written_in_loop(const FunctionFlow& flow, std::uint32_t given, std::size_t depth) {
  for (std::size_t i = 0; i < flow.instructions.size(); ++i)
    if (flow.loop_depth[i] >= depth && std::ranges::count(flow.instructions[i].writes, given) > 0) return true;
  return false;
}

//! Moves at the end of a turn give a value the name that the next turn knows it by.
std::map<std::uint32_t, std::uint32_t> names_in_next_turn(const ptx::Function& function, const FunctionFlow& flow,
                                                          const std::vector<std::size_t>& loop) {
  std::map<std::uint32_t, std::uint32_t> names;
  for (const std::size_t i : loop) {
    const FunctionFlow::Instruction& move = flow.instructions[i];
    if (function.instructions[i].opcode == "mov" && move.reads.size() == 1 && move.writes.size() == 1)
      names[move.reads[0]] = move.writes[0];
  }
  return names;
}

}  // namespace

void fold_constants(const ptx::Function& function, const FunctionFlow& flow, std::vector<MachineWork>& work) {
  const Uses uses(flow);
  for (std::size_t i = 0; i < flow.instructions.size(); ++i) {
    if (!is_linear(function.instructions[i], flow.instructions[i])) continue;
    const std::uint32_t from = flow.instructions[i].reads[0];
    if (uses.writes[from] != 1 || uses.reads[from] != 1) continue;
    const std::size_t before = uses.writer.at(from);
    if (is_linear(function.instructions[before], flow.instructions[before]) &&
        flow.loop_depth[before] == flow.loop_depth[i])
      work[before] = {};
  }
}

void hoist_reciprocals(const ptx::Function& function, const FunctionFlow& flow, std::vector<MachineWork>& work) {
  for (std::size_t i = 0; i < flow.instructions.size(); ++i) {
    const ptx::Instruction& division = function.instructions[i];
    if (flow.loop_depth[i] == 0 || !divides_whole_numbers(division) || flow.instructions[i].reads.size() != 2) continue;
    if (is_written_in_loop(flow, flow.instructions[i].reads[1], flow.loop_depth[i])) continue;
    work[i] = {};
    const bool has_sign = has_modifier(division, "s32");
    work[i][static_cast<std::size_t>(Pipe::multiply)] = 2;
    work[i][static_cast<std::size_t>(Pipe::integer)] = has_sign ? 8 : 5;
  }
}

std::vector<std::size_t> only_between_turns(const ptx::Function& function, const FunctionFlow& flow,
                                            const std::vector<std::size_t>& loop) {
  const auto names = names_in_next_turn(function, flow, loop);
  std::vector<std::size_t> found{loop.back()};
  for (const std::size_t i : loop) {
    const FunctionFlow::Instruction& instruction = flow.instructions[i];
    if (instruction.writes.size() != 1) continue;
    const std::uint32_t written = instruction.writes[0];
    const auto name = names.find(written);
    const bool moves_on =
        is_linear(function.instructions[i], instruction) &&
        (instruction.reads[0] == written || (name != names.end() && instruction.reads[0] == name->second));
    const bool ends = function.instructions[i].opcode == "setp" &&
                      std::ranges::count(flow.instructions[loop.back()].reads, written) > 0;
    if (moves_on || ends) found.push_back(i);
  }
  return found;
}

}  // namespace cudal1::vgpu
