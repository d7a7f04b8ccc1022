#include "device/vgpu/ptx/live_registers.hpp"

#include <algorithm>

#include "device/vgpu/ptx/wanted_registers.hpp"

namespace cudal1::vgpu {
namespace {

//! A value that machine code takes from constant memory or carries inside instructions: parameters, numbers.
bool is_free(const ptx::Instruction& instruction) {
  if (instruction.guard) return false;
  if (instruction.opcode == "ld") return has_modifier(instruction, "param");
  if (instruction.opcode != "mov" || instruction.operands.size() != 2) return false;
  const ptx::Operand::Kind kind = instruction.operands[1].kind;
  return kind == ptx::Operand::Kind::integer || kind == ptx::Operand::Kind::floating;
}

//! cvta.to.global changes nothing: generic and global addresses are the same.
bool only_renames(const ptx::Instruction& instruction) {
  return instruction.opcode == "cvta" && (has_modifier(instruction, "global") || has_modifier(instruction, "const"));
}

//! By register: the words it takes, none where its only definition is free.
std::vector<std::uint32_t> words_taken(const ptx::Function& function, const FunctionFlow& flow) {
  std::vector<std::uint32_t> words = flow.words, definitions(flow.words.size());
  for (const auto& instruction : flow.instructions)
    for (const std::uint32_t written : instruction.writes) ++definitions[written];
  for (std::size_t i = 0; i < flow.instructions.size(); ++i) {
    const auto& [reads, writes, next, guarded] = flow.instructions[i];
    if (writes.size() != 1 || definitions[writes[0]] != 1) continue;
    const bool renames_free = only_renames(function.instructions[i]) && reads.size() == 1 && words[reads[0]] == 0;
    if (is_free(function.instructions[i]) || renames_free) words[writes[0]] = 0;
  }
  return words;
}

//! Before each instruction; the end is one more, before which nothing is wanted.
std::vector<RegisterSet> live_before(const FunctionFlow& flow) {
  const std::size_t end = flow.instructions.size();
  const auto for_each_next = [&](std::size_t i, auto visit) {
    if (i < end)
      for (const std::size_t next : flow.instructions[i].next) visit(next);
  };
  const auto step_back = [&](std::size_t i, RegisterSet& live) {
    if (i == end) return;
    const FunctionFlow::Instruction& instruction = flow.instructions[i];
    if (!instruction.guarded)
      for (const std::uint32_t written : instruction.writes) live.erase(written);
    for (const std::uint32_t read : instruction.reads) live.insert(read);
  };
  return registers_wanted(end + 1, flow.words.size(), for_each_next, step_back);
}

std::uint32_t sum_of_words(const RegisterSet& live, const std::vector<std::uint32_t>& words) {
  std::uint32_t sum = 0;
  live.for_each([&](std::size_t number) { sum += words[number]; });
  return sum;
}

}  // namespace

std::uint32_t most_live_words(const ptx::Function& function, const FunctionFlow& flow) {
  const std::vector<std::uint32_t> words = words_taken(function, flow);
  std::uint32_t most = 0;
  for (const RegisterSet& live : live_before(flow)) most = std::max(most, sum_of_words(live, words));
  return most;
}

}  // namespace cudal1::vgpu
