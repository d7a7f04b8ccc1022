// mov that is more than a copy: parts of a register, addresses, and registers that hold what the machine knows.
#include <fmt/format.h>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/collectives.hpp"
#include "device/vgpu/machine/decode_arithmetic.hpp"
#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

// --- {several} in one
template <class Whole, class Part>
struct Join {
  template <class... Parts>
  Whole operator()(Parts... parts) const {
    Whole whole = 0;
    int shift = 0;
    ((whole |= static_cast<Whole>(Whole{parts} << shift), shift += 8 * static_cast<int>(sizeof(Part))), ...);
    return whole;
  }
};
template <class Part, int shift>
struct Take {
  template <class Whole>
  Part operator()(Whole whole) const {
    return static_cast<Part>(whole >> shift);
  }
};

struct Packing {
  Handler join;
  std::array<Handler, 4> take;
};

const Packing* packing_of(std::uint32_t whole_bits, std::size_t parts) {
  static const Packing halves{value<Join<u32, u16>, u32, u16, u16>().run,
                              {value<Take<u16, 0>, u16, u32>().run, value<Take<u16, 16>, u16, u32>().run}};
  static const Packing words{value<Join<u64, u32>, u64, u32, u32>().run,
                             {value<Take<u32, 0>, u32, u64>().run, value<Take<u32, 32>, u32, u64>().run}};
  static const Packing quarters{value<Join<u64, u16>, u64, u16, u16, u16, u16>().run,
                                {value<Take<u16, 0>, u16, u64>().run, value<Take<u16, 16>, u16, u64>().run,
                                 value<Take<u16, 32>, u16, u64>().run, value<Take<u16, 48>, u16, u64>().run}};
  if (whole_bits == 32 && parts == 2) return &halves;
  if (whole_bits == 64) return parts == 2 ? &words : parts == 4 ? &quarters : nullptr;
  return nullptr;
}

std::uint32_t width_of_move(OperandReader& reader) {
  const std::string name = reader.instruction().full_opcode();
  if (name != "mov.b32" && name != "mov.b64") reader.unknown();
  return name == "mov.b32" ? 32 : 64;
}

const Packing& packing(OperandReader& reader, std::size_t parts) {
  const Packing* found = packing_of(width_of_move(reader), parts);
  if (!found) reader.fail(fmt::format("'{}' does not have {} parts", reader.instruction().full_opcode(), parts));
  return *found;
}

Slot part_slot(OperandReader& reader, const Operand& part, std::uint32_t bits) {
  if (part.kind == Operand::Kind::integer)
    return reader.kernel().registers->constant(part.bits, bits == 16 ? Kind::bits16 : Kind::bits32);
  return reader.register_with(part, bits);
}

Step join(OperandReader& reader, const std::vector<Operand>& parts) {
  const Handler run = packing(reader, parts.size()).join;
  const std::uint32_t width = width_of_move(reader), part_bits = width / static_cast<std::uint32_t>(parts.size());
  Step step;
  step.operation.run = run;
  step.operation.result = reader.register_with(reader.operand(0), width);
  for (std::size_t i = 0; i < parts.size(); ++i) step.operation.operands[i] = part_slot(reader, parts[i], part_bits);
  return step;
}

Step nothing() {
  return OperandReader::of_effect([](Warp&, const Step&, Mask) {});
}

//! One step for each part; nothing has the name "_".
Step take_apart(OperandReader& reader, const std::vector<Operand>& parts) {
  const Packing& known = packing(reader, parts.size());
  const std::uint32_t width = width_of_move(reader), part_bits = width / static_cast<std::uint32_t>(parts.size());
  const Slot from = reader.register_with(reader.operand(1), width);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].name == "_") continue;
    Step step;
    step.operation.run = known.take[i];
    step.operation.result = reader.register_with(parts[i], part_bits);
    step.operation.operands[0] = from;
    reader.push(step);
  }
  return nothing();
}

// --- special registers that follow from others
struct LanesBefore {
  u32 operator()(u32 lane) const { return (u32{1} << lane) - 1; }
};
struct LanesUpTo {
  u32 operator()(u32 lane) const { return (u32{2} << lane) - 1; }
};
struct LanesBehind {
  u32 operator()(u32 lane) const { return ~((u32{2} << lane) - 1); }
};
struct LanesFrom {
  u32 operator()(u32 lane) const { return ~((u32{1} << lane) - 1); }
};
struct ThisLane {
  u32 operator()(u32 lane) const { return u32{1} << lane; }
};
struct WarpsOf {
  u32 operator()(u32 x, u32 y, u32 z) const { return (x * y * z + 31) / 32; }
};

Step computed(OperandReader& reader, const ArithmeticOpcode& opcode, const std::vector<const char*>& from) {
  Step step;
  step.operation.run = opcode.run;
  step.operation.result = reader.register_with(reader.operand(0), 32);
  for (std::size_t i = 0; i < from.size(); ++i) step.operation.operands[i] = *reader.special_slot(from[i]);
  return step;
}

//! There is one multiprocessor and one grid, as far as a program can tell.
Step constant(OperandReader& reader, std::uint64_t bits) {
  const std::uint32_t width = bits_of(reader.register_of(reader.operand(0)).kind);
  const Slot value = reader.kernel().registers->constant(bits, width == 64 ? Kind::bits64 : Kind::bits32);
  return OperandReader::computing(width == 64 ? "mov.b64" : "mov.b32", reader.register_with(reader.operand(0), width),
                                  {value});
}

Step clock(OperandReader& reader, bool wide) {
  Step step = OperandReader::of_effect(wide ? &read_wide_clock : &read_clock);
  step.operation.result = reader.register_with(reader.operand(0), wide ? 64 : 32);
  return step;
}

std::optional<Step> from_special(OperandReader& reader, const std::string& name) {
  if (name == "%lanemask_eq") return computed(reader, value<ThisLane, u32, u32>(), {"%laneid"});
  if (name == "%lanemask_lt") return computed(reader, value<LanesBefore, u32, u32>(), {"%laneid"});
  if (name == "%lanemask_le") return computed(reader, value<LanesUpTo, u32, u32>(), {"%laneid"});
  if (name == "%lanemask_gt") return computed(reader, value<LanesBehind, u32, u32>(), {"%laneid"});
  if (name == "%lanemask_ge") return computed(reader, value<LanesFrom, u32, u32>(), {"%laneid"});
  if (name == "%nwarpid")
    return computed(reader, value<WarpsOf, u32, u32, u32, u32>(), {"%ntid.x", "%ntid.y", "%ntid.z"});
  if (name == "%smid" || name == "%gridid") return constant(reader, 0);
  if (name == "%nsmid") return constant(reader, 1);
  if (name == "WARP_SZ") return constant(reader, warp_size);
  if (name == "%clock") return clock(reader, false);
  if (name == "%clock64" || name == "%globaltimer") return clock(reader, true);
  return std::nullopt;
}

//! One that the machine sets in a register of its own.
Step from_special_slot(OperandReader& reader, Slot special) {
  return OperandReader::computing("mov.b32", reader.register_of(reader.operand(0)).slot, {special});
}

//! A variable's address is a number.
Step of_address(OperandReader& reader, std::uint64_t address) {
  ptx::Instruction plain = reader.instruction();
  plain.operands[1] = {};
  plain.operands[1].kind = Operand::Kind::integer;
  plain.operands[1].bits = address;
  Step step;
  step.operation = decode_arithmetic(plain, *reader.kernel().registers);
  return step;
}

}  // namespace

std::optional<Step> decode_special_move(OperandReader& reader) {
  reader.expect_operands(2);
  const Operand &to = reader.operand(0), &from = reader.operand(1);
  if (from.kind == Operand::Kind::list) return join(reader, from.elements);
  if (to.kind == Operand::Kind::list) return take_apart(reader, to.elements);
  if (from.kind != Operand::Kind::name) return std::nullopt;
  if (const auto special = from_special(reader, from.name)) return special;
  if (const auto special = reader.special_slot(from.name)) return from_special_slot(reader, *special);
  if (const auto address = reader.address_of(from.name))
    return of_address(reader, *address + static_cast<std::uint64_t>(from.offset));
  return std::nullopt;
}

}  // namespace cudal1::vgpu
