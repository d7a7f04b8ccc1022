#include "device/vgpu/machine/machine_work.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "device/vgpu/machine/instruction_class.hpp"

namespace cudal1::vgpu {
namespace {

using Words = std::set<std::string, std::less<>>;

bool has(const ptx::Instruction& instruction, std::string_view word) {
  return std::ranges::find(instruction.modifiers, word) != instruction.modifiers.end();
}

bool has_any(const ptx::Instruction& instruction, const Words& words) {
  return std::ranges::any_of(instruction.modifiers, [&](const std::string& word) { return words.contains(word); });
}

struct Part {
  Pipe pipe;
  float count;
};

MachineWork work(std::initializer_list<Part> parts) {
  MachineWork made{};
  for (const Part& part : parts) made[static_cast<std::size_t>(part.pipe)] += part.count;
  return made;
}

const Words wide_integers{"s64", "u64", "b64"}, small_floats{"f16", "bf16", "f16x2", "bf16x2"};

//! Constants at known addresses are operands.
bool has_computed_address(const ptx::Instruction& load) {
  return load.operands.size() > 1 && !load.operands[1].elements.empty() &&
         load.operands[1].elements[0].name.starts_with("%");
}

//! Moves, parameters, jumps, and signs of numbers that other instructions take as they are.
bool vanishes(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "mov" || opcode == "cvta") return true;
  if (opcode == "bra") return !instruction.guard;  // the assembler puts what follows it there
  if (opcode == "ld")
    return has(instruction, "param") || (has(instruction, "const") && !has_computed_address(instruction));
  return (opcode == "neg" || opcode == "abs") && has(instruction, "f32");
}

//! A reciprocal and Newton steps on it; the remainder costs a multiplication more.
MachineWork integer_division(const ptx::Instruction& instruction) {
  if (has_any(instruction, wide_integers))
    return work({{Pipe::integer, 36}, {Pipe::multiply, 34}, {Pipe::special, 1}, {Pipe::control, 4}});
  if (has_any(instruction, {"s16", "u16"}))
    return work({{Pipe::integer, 6}, {Pipe::conversion, 3}, {Pipe::special, 1}});
  const float signs = has(instruction, "s32") ? 6 : 0;
  return work({{Pipe::integer, 7 + signs}, {Pipe::multiply, 6}, {Pipe::conversion, 2}, {Pipe::special, 1}});
}

MachineWork real_division(const ptx::Instruction& instruction) {
  if (has(instruction, "f64")) return work({{Pipe::twofold, 14}, {Pipe::special, 1}, {Pipe::control, 3}});
  if (has(instruction, "approx")) return work({{Pipe::single, 3}, {Pipe::special, 1}});
  if (has(instruction, "full")) return work({{Pipe::single, 5}, {Pipe::special, 1}});
  return work({{Pipe::single, 6}, {Pipe::special, 2}, {Pipe::control, 2}});  // the slow path is rare
}

//! Roots and reciprocals that are rounded exactly end with Newton steps; those that are not guard denormal numbers.
MachineWork special_function(const ptx::Instruction& instruction) {
  const bool exact = !has(instruction, "approx") && !has(instruction, "approx.ftz");
  if (exact) return work({{Pipe::single, 5}, {Pipe::special, 1}, {Pipe::integer, 2}, {Pipe::control, 2}});
  const bool guarded = !has(instruction, "ftz") && instruction.opcode != "tanh";
  return work({{Pipe::special, 1}, {Pipe::single, guarded ? 2.5f : 0.5f}});
}

MachineWork conversion(const ptx::Instruction& instruction) {
  if (has_any(instruction, small_floats)) return work({{Pipe::integer, 1}});
  if (has(instruction, "f64") || has_any(instruction, wide_integers)) return work({{Pipe::conversion, 4}});
  return work({{Pipe::conversion, 1}});
}

//! 64-bit additions and multiplications are mostly addresses, where one instruction does both or none is left.
MachineWork integer_work(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "cvt") return work({{Pipe::integer, 0.5f}});
  if (opcode == "popc" || opcode == "clz" || opcode == "bfind" || opcode == "brev") return work({{Pipe::special, 1}});
  const bool multiplies = opcode == "mul" || opcode == "mad", wide = has_any(instruction, wide_integers);
  if (multiplies && wide) return work({{Pipe::multiply, has(instruction, "hi") ? 10.0f : 4.0f}});
  if (multiplies) return work({{Pipe::multiply, has(instruction, "hi") ? 2.0f : 1.0f}});
  if (opcode == "add" || opcode == "sub") return work({{Pipe::either, 1}});
  if (!wide) return work({{opcode == "shl" ? Pipe::either : Pipe::integer, 1}});
  return work({{Pipe::integer, 2}});
}

}  // namespace

MachineWork machine_work_of(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (vanishes(instruction)) return {};
  const bool real = has_any(instruction, {"f32", "f64"});
  if (opcode == "div" || opcode == "rem") return real ? real_division(instruction) : integer_division(instruction);
  const Pipe pipe = opcode == "ld" ? Pipe::memory : pipe_of(instruction);
  if (pipe == Pipe::special) return special_function(instruction);
  if (pipe == Pipe::conversion) return conversion(instruction);
  if (pipe == Pipe::integer) return integer_work(instruction);
  if (pipe == Pipe::twofold && (opcode == "sqrt" || opcode == "rcp")) return work({{pipe, 12}, {Pipe::control, 3}});
  // The pipe that multiplies floating-point numbers does not compare them.
  static const Words compares{"setp", "set", "min", "max", "testp", "copysign"};
  if (pipe == Pipe::single && compares.contains(opcode)) return work({{Pipe::integer, 1}});
  return work({{pipe, 1}});
}

}  // namespace cudal1::vgpu
