// cvta and isspacep: generic addresses and those of a space.
#include <map>

#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {
namespace {

//! Between generic addresses and those of a space: shared and local memory have windows, global memory is the rest.
Step convert_address(OperandReader& reader) {
  static const std::map<std::string, std::int64_t, std::less<>> windows{
      {"cvta.global.u64", 0},
      {"cvta.to.global.u64", 0},
      {"cvta.const.u64", 0},
      {"cvta.to.const.u64", 0},
      {"cvta.shared.u64", static_cast<std::int64_t>(shared_window)},
      {"cvta.to.shared.u64", -static_cast<std::int64_t>(shared_window)},
      {"cvta.local.u64", static_cast<std::int64_t>(local_window)},
      {"cvta.to.local.u64", -static_cast<std::int64_t>(local_window)}};
  const auto window = windows.find(reader.instruction().full_opcode());
  if (window == windows.end()) reader.unknown();
  const ArithmeticOpcode* add = find_arithmetic("add.s64");
  Step step;
  step.operation.run = add->run;
  step.operation.result = reader.register_of(reader.operand(0)).slot;
  const auto known = reader.address_of(reader.operand(1).name);
  step.operation.operands[0] = known ? reader.kernel().registers->constant(
                                           *known + static_cast<std::uint64_t>(reader.operand(1).offset), Kind::bits64)
                                     : reader.register_with(reader.operand(1), 64);
  step.operation.operands[1] =
      reader.kernel().registers->constant(static_cast<std::uint64_t>(window->second), Kind::bits64);
  return step;
}

//! Constant memory lies among global memory, and parameters beyond it.
Step is_space(OperandReader& reader) {
  const Slot address = reader.register_with(reader.operand(1), 64), result = reader.register_with(reader.operand(0), 1);
  const auto limit = [&](std::uint64_t bits) { return reader.kernel().registers->constant(bits, Kind::bits64); };
  const Slot always = reader.kernel().registers->constant(1, Kind::predicate);
  if (reader.has("shared")) return OperandReader::computing("setp.ge.u64", result, {address, limit(shared_window)});
  if (reader.has("global")) return OperandReader::computing("setp.lt.u64", result, {address, limit(parameter_window)});
  if (reader.has("const")) return OperandReader::computing("not.pred", result, {always});
  if (!reader.has("local")) reader.unknown();
  reader.push(OperandReader::computing("setp.ge.u64", result, {address, limit(local_window)}));
  const Slot copy = reader.kernel().registers->reserve(Kind::predicate);
  reader.push(OperandReader::computing("mov.pred", copy, {result}));
  return OperandReader::computing("setp.lt.and.u64", result, {address, limit(shared_window), copy});
}

}  // namespace

std::optional<Step> decode_address(OperandReader& reader) {
  const std::string& op = reader.instruction().opcode;
  if (op == "cvta") return convert_address(reader);
  if (op == "isspacep") return is_space(reader);
  return std::nullopt;
}

}  // namespace cudal1::vgpu
