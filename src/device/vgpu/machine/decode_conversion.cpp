// cvt with registers that are wider than its types: PTX reads the low bits of such an operand, and extends the result
// to the whole register, by its sign if it has one.
#include <fmt/format.h>

#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {
namespace {

bool is_integer(const std::string& type) { return type[0] == 's' || type[0] == 'u'; }

}  // namespace

std::optional<Step> decode_wide_conversion(OperandReader& reader) {
  const ptx::Instruction& instruction = reader.instruction();
  const std::vector<std::string>& words = instruction.modifiers;
  const ArithmeticOpcode* opcode = find_arithmetic(instruction.full_opcode());
  if (!opcode || words.size() < 2 || instruction.operands.size() != 2) return std::nullopt;
  if (reader.operand(1).kind != ptx::Operand::Kind::name) return std::nullopt;
  const RegisterMap::Register to = reader.register_of(reader.operand(0)), from = reader.register_of(reader.operand(1));
  const std::string &result = words[words.size() - 2], &source = words.back();
  const std::uint32_t narrow = bits_of(opcode->result), wide = bits_of(to.kind);
  const bool extends = is_integer(result) && wide > narrow;
  const bool cuts = is_integer(source) && bits_of(from.kind) == 64 && bits_of(opcode->operands[0]) < 64;
  if ((!extends && wide != narrow) || (!extends && !cuts)) return std::nullopt;
  if (!cuts && bits_of(from.kind) < bits_of(opcode->operands[0])) return std::nullopt;

  Slot low = from.slot;
  if (cuts) {
    low = reader.kernel().registers->reserve(Kind::bits32);
    reader.push(OperandReader::computing("cvt.u32.u64", low, {from.slot}));
  }
  if (!extends) return OperandReader::computing(instruction.full_opcode(), to.slot, {low});
  const Slot unextended = reader.kernel().registers->reserve(opcode->result);
  reader.push(OperandReader::computing(instruction.full_opcode(), unextended, {low}));
  return OperandReader::computing(fmt::format("cvt.{0}{1}.{0}{2}", result[0], wide, narrow), to.slot, {unextended});
}

}  // namespace cudal1::vgpu
