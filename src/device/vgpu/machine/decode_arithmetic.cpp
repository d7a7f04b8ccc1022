#include "device/vgpu/machine/decode_arithmetic.hpp"

#include <fmt/format.h>

#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;
using ptx::PtxError;

//! An immediate operand as the bits that a register of this kind would hold.
std::uint64_t immediate_bits(const Operand& operand, Kind kind, int ptx_line) {
  const std::uint32_t width = bits_of(kind);
  if (operand.kind == Operand::Kind::integer) {
    if (kind == Kind::real32 || kind == Kind::real64)
      throw PtxError(ptx_line, "an integer where a floating-point number is expected");
    return width == 64 ? operand.bits : operand.bits & ((std::uint64_t{1} << width) - 1);
  }
  const double exact = operand.single ? std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))
                                      : std::bit_cast<double>(operand.bits);
  if (width == 64) return operand.single ? std::bit_cast<std::uint64_t>(exact) : operand.bits;
  if (width != 32) throw PtxError(ptx_line, "a floating-point number where an integer is expected");
  // Not through double where the bits are given: a signalling NaN would become a quiet one.
  return operand.single ? operand.bits : std::bit_cast<std::uint32_t>(static_cast<float>(exact));
}

class Decoder {
 public:
  Decoder(const ptx::Instruction& instruction, RegisterMap& registers)
      : instruction_(instruction), registers_(registers) {}

  Operation run() {
    const ArithmeticOpcode* opcode = find_arithmetic(instruction_.full_opcode());
    if (!opcode) throw ptx::UnknownInstruction(instruction_.at.ptx_line, instruction_.full_opcode());
    const std::size_t wanted = 1 + opcode->operands.size(), given = instruction_.operands.size();
    const bool two_results = opcode->second_result && given == wanted + 1;
    if (given != wanted && !two_results)
      fail(fmt::format("'{}' takes {} operands, not {}", instruction_.full_opcode(), wanted, given));
    Operation operation;
    operation.run = opcode->run;
    operation.result = destination(instruction_.operands[0], opcode->result);
    if (two_results) operation.second_result = destination(instruction_.operands[1], opcode->result);
    for (std::size_t i = 0; i < opcode->operands.size(); ++i)
      operation.operands[i] = source(instruction_.operands[given - opcode->operands.size() + i], opcode->operands[i]);
    if (opcode->reads_carry) operation.operands[opcode->operands.size()] = registers_.carry();
    if (opcode->writes_carry) operation.second_result = registers_.carry();
    return operation;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw PtxError(instruction_.at.ptx_line, message); }

  //! A conversion may read a part of its operand and fill a wider register; both are words of the same size here.
  bool fits(Kind given, Kind wanted) const {
    if (bits_of(given) == bits_of(wanted)) return true;
    return instruction_.opcode == "cvt" && bits_of(given) <= 32 && bits_of(wanted) <= bits_of(given);
  }

  //! Registers of the same size fit each other, whatever they hold.
  Slot slot_of(const Operand& operand, Kind kind) const {
    const auto found = registers_.find(operand.name);
    if (!found) fail(fmt::format("the register '{}' is not known", operand.name));
    if (!fits(found->kind, kind))
      fail(fmt::format("the register '{}' has {} bits where '{}' needs {}", operand.name, bits_of(found->kind),
                       instruction_.full_opcode(), bits_of(kind)));
    return found->slot;
  }

  Slot destination(const Operand& operand, Kind kind) const {
    if (operand.kind != Operand::Kind::name || operand.offset != 0 || operand.negated) fail("a register is expected");
    return slot_of(operand, kind);
  }

  Slot source(const Operand& operand, Kind kind) {
    if (operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::floating)
      return registers_.constant(immediate_bits(operand, kind, instruction_.at.ptx_line), kind);
    if (operand.negated) fail("a negated operand is not known here");
    return destination(operand, kind);
  }

  const ptx::Instruction& instruction_;
  RegisterMap& registers_;
};

}  // namespace

Operation decode_arithmetic(const ptx::Instruction& instruction, RegisterMap& registers) {
  return Decoder(instruction, registers).run();
}

}  // namespace cudal1::vgpu
