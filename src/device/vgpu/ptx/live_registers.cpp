#include "device/vgpu/ptx/live_registers.hpp"

#include <algorithm>
#include <bit>

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

//! A bit for each register.
class Live {
 public:
  explicit Live(std::size_t registers) : bits_((registers + 63) / 64) {}
  void set(std::uint32_t r) { bits_[r / 64] |= std::uint64_t{1} << (r % 64); }
  void clear(std::uint32_t r) { bits_[r / 64] &= ~(std::uint64_t{1} << (r % 64)); }
  void add(const Live& other) {
    for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  }
  bool operator==(const Live&) const = default;

  std::uint32_t sum(const std::vector<std::uint32_t>& words) const {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i)
      for (std::uint64_t left = bits_[i]; left != 0; left &= left - 1) sum += words[i * 64 + std::countr_zero(left)];
    return sum;
  }

 private:
  std::vector<std::uint64_t> bits_;
};

//! Registers live before the instruction, from those live after it.
void step_back(const FunctionFlow::Instruction& instruction, Live& live) {
  if (!instruction.guarded)
    for (const std::uint32_t written : instruction.writes) live.clear(written);
  for (const std::uint32_t read : instruction.reads) live.set(read);
}

//! Live before each instruction: the usual backward analysis, repeated until nothing changes.
std::vector<Live> live_before(const FunctionFlow& flow) {
  std::vector<Live> before(flow.instructions.size() + 1, Live(flow.words.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = flow.instructions.size(); i-- > 0;) {
      Live live(flow.words.size());
      for (const std::size_t next : flow.instructions[i].next) live.add(before[next]);
      step_back(flow.instructions[i], live);
      if (live == before[i]) continue;
      before[i] = std::move(live);
      changed = true;
    }
  }
  return before;
}

std::uint32_t most_words(const std::vector<Live>& live, const std::vector<std::uint32_t>& words) {
  std::uint32_t most = 0;
  for (const Live& at : live) most = std::max(most, at.sum(words));
  return most;
}

}  // namespace

std::uint32_t most_live_words(const ptx::Function& function, const FunctionFlow& flow) {
  return most_words(live_before(flow), words_taken(function, flow));
}

}  // namespace cudal1::vgpu
