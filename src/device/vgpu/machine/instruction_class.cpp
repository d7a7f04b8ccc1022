#include "device/vgpu/machine/instruction_class.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace cudal1::vgpu {
namespace {

using Words = std::set<std::string, std::less<>>;

const Words memory_opcodes{"ld",       "ldu",      "st",        "atom", "red",      "shfl",
                           "ldmatrix", "stmatrix", "movmatrix", "cp",   "prefetch", "prefetchu"};
const Words control_opcodes{"bra",     "brx",  "call",  "ret",        "exit",      "trap",   "brkpt", "bar",
                            "barrier", "vote", "match", "activemask", "nanosleep", "membar", "fence", "griddepcontrol"};
const Words special_opcodes{"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
const Words moves{"mov", "selp", "slct", "cvta", "prmt", "isspacep"};
const Words half_types{"f16", "f16x2", "bf16", "bf16x2"};

bool has(const ptx::Instruction& instruction, std::string_view word) {
  return std::ranges::find(instruction.modifiers, word) != instruction.modifiers.end();
}

bool is_integer(const std::string& type) {
  return type.size() > 1 && (type[0] == 's' || type[0] == 'u' || type[0] == 'b');
}

//! Between integers a conversion is a move.
Pipe pipe_of_conversion(const ptx::Instruction& instruction) {
  const auto integers = std::ranges::count_if(
      instruction.modifiers, [](const std::string& word) { return is_integer(word) && ptx::bytes_of_type(word) > 0; });
  return integers == 2 ? Pipe::integer : Pipe::conversion;
}

//! By the type that it is named after last: setp.lt.f32, set.gt.u32.f32.
Pipe pipe_of_type(const ptx::Instruction& instruction) {
  const std::string last = instruction.modifiers.empty() ? "" : instruction.modifiers.back();
  if (last == "f32") return Pipe::single;
  if (last == "f64") return Pipe::twofold;
  return half_types.contains(last) ? Pipe::half : Pipe::integer;
}

}  // namespace

Pipe pipe_of(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  // Parameters and constants are operands of other instructions there.
  if (opcode == "ld" && (has(instruction, "param") || has(instruction, "const"))) return Pipe::integer;
  if (memory_opcodes.contains(opcode)) return Pipe::memory;
  if (control_opcodes.contains(opcode)) return Pipe::control;
  if (opcode == "mma" || opcode == "wmma") return Pipe::tensor;
  if (opcode == "cvt") return pipe_of_conversion(instruction);
  if (moves.contains(opcode)) return Pipe::integer;
  const bool divides = opcode == "div" && has(instruction, "f32");
  if ((special_opcodes.contains(opcode) && !has(instruction, "f64")) || divides) return Pipe::special;
  return pipe_of_type(instruction);
}

std::uint32_t tensor_products_of(const ptx::Instruction& instruction) {
  if (instruction.opcode != "mma" && instruction.opcode != "wmma") return 0;
  for (const std::string& word : instruction.modifiers) {
    if (word.size() < 6 || word[0] != 'm' || !std::isdigit(static_cast<unsigned char>(word[1]))) continue;
    std::uint32_t product = 1, number = 0;
    for (const char c : word.substr(1) + ".") {
      const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (!digit) product *= number;
      number = digit ? 10 * number + static_cast<std::uint32_t>(c - '0') : 0;
    }
    return product;
  }
  return 0;
}

bool may_signal(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "atom" || opcode == "red" || opcode == "nanosleep") return true;
  if (opcode != "ld" && opcode != "st") return false;
  // ld.cg passes by the cache of the multiprocessor: hand-written barriers poll with it.
  static const Words ordered{"volatile", "relaxed", "acquire", "release", "mmio", "cv"};
  if (opcode == "ld" && has(instruction, "cg")) return true;
  return std::ranges::any_of(instruction.modifiers, [](const std::string& word) { return ordered.contains(word); });
}

bool may_signal_other_blocks(const ptx::Instruction& instruction) {
  if (!may_signal(instruction) || instruction.opcode == "nanosleep") return false;
  return !has(instruction, "shared") && !has(instruction, "shared::cta") && !has(instruction, "local") &&
         !has(instruction, "param");
}

}  // namespace cudal1::vgpu
