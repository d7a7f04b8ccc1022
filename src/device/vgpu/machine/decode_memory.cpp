#include "device/vgpu/machine/decode_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "device/vgpu/machine/collectives.hpp"
#include "device/vgpu/machine/memory.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

//! Words in an opcode that change nothing here: all accesses are in order, and caches hold no secrets.
const std::set<std::string, std::less<>> harmless{"weak",
                                                  "relaxed",
                                                  "acquire",
                                                  "release",
                                                  "acq_rel",
                                                  "volatile",
                                                  "gpu",
                                                  "cta",
                                                  "sys",
                                                  "ca",
                                                  "cg",
                                                  "cs",
                                                  "cv",
                                                  "lu",
                                                  "wb",
                                                  "wt",
                                                  "nc",
                                                  "noftz",
                                                  "L1::evict_normal",
                                                  "L1::evict_unchanged",
                                                  "L1::evict_first",
                                                  "L1::evict_last",
                                                  "L1::no_allocate",
                                                  "L2::64B",
                                                  "L2::128B",
                                                  "L2::256B"};

struct Written {
  Access access;
  bool parameter = false;
  bool strong = false;
};

Written access_as_written(const OperandReader& reader) {
  static const std::map<std::string, AddressSpace, std::less<>> spaces{{"global", AddressSpace::global},
                                                                       {"shared", AddressSpace::shared},
                                                                       {"shared::cta", AddressSpace::shared},
                                                                       {"local", AddressSpace::local},
                                                                       {"const", AddressSpace::constant}};
  static const std::set<std::string, std::less<>> strong{"volatile", "relaxed", "acquire", "release"};
  Written written;
  for (const std::string& word : reader.instruction().modifiers) {
    if (const auto space = spaces.find(word); space != spaces.end())
      written.access.space = space->second;
    else if (word == "param")
      written.parameter = true;
    else if (word == "v2" || word == "v4")
      written.access.vector = word == "v2" ? 2 : 4;
    else if (ptx::bytes_of_type(word) > 0 && word != "pred")
      written.access.type = word;
    else if (!harmless.contains(word))
      reader.unknown();
    written.strong |= strong.contains(word);
  }
  if (written.access.type.empty()) reader.unknown();
  return written;
}

//! Structures are copied as integers, together with their padding; floating-point numbers have none.
std::uint8_t element_bytes(const std::string& type) {
  return type.front() == 'f' ? 1 : static_cast<std::uint8_t>(ptx::bytes_of_type(type));
}

Effect small_or_other_atomic(const std::string& operation, const std::string& type) {
  const Effect small = find_small_atomic(operation, type);
  return small ? small : find_atomic(operation, type);
}

}  // namespace

Step MemoryDecoder::load() {
  Written written = access_as_written(reader_);
  if (written.parameter && !is_passed(reader_.operand(1))) return load_parameter(written.access);
  if (written.parameter) written.access.space = AddressSpace::local;
  Step step;
  step.loads = true;
  step.strong = written.strong;
  step.element_bytes = element_bytes(written.access.type);
  set_data(step, written.access, reader_.operand(0));
  reader_.set_address(step, reader_.operand(1));
  return finished(step, written.access.space, find_load(written.access));
}

//! A parameter of a function or of a call, not one of the kernel's.
bool MemoryDecoder::is_passed(const Operand& address) const {
  return address.kind == Operand::Kind::address && reader_.address_of(address.elements.at(0).name).has_value();
}

//! Parameters lie in memory of their own, which all threads read alike: global memory, at addresses of our choice.
Step MemoryDecoder::load_parameter(Access access) {
  const Operand& address = reader_.operand(1);
  if (address.kind != Operand::Kind::address) reader_.fail("an address is expected");
  const auto parameter = reader_.kernel().parameter_offsets.find(address.elements.at(0).name);
  if (parameter == reader_.kernel().parameter_offsets.end())
    reader_.fail(fmt::format("'{}' is no parameter of the kernel", address.elements[0].name));
  access.space = AddressSpace::constant;
  Step step;
  step.loads = true;
  set_data(step, access, reader_.operand(0));
  step.operation.operands[0] = reader_.kernel().registers->constant(parameter_window, Kind::bits64);
  step.offset = static_cast<std::int64_t>(parameter->second + static_cast<std::uint64_t>(address.offset));
  if (is_whole_register(access, step.offset)) return copy_parameter_from_register(access, step);
  return finished(step, access.space, find_load(access));
}

bool MemoryDecoder::is_whole_register(const Access& access, std::int64_t offset) const {
  const std::uint64_t bytes = ptx::bytes_of_type(access.type), bits = 8 * bytes;
  return access.vector == 1 && bits == access.register_bits && bits >= 32 && offset >= 0 &&
         static_cast<std::uint64_t>(offset) + bytes <= reader_.kernel().parameter_bytes &&
         static_cast<std::uint64_t>(offset) % bytes == 0;
}

//! Parameters are the same in every lane and block, so a warp puts them into registers once.
Step MemoryDecoder::copy_parameter_from_register(const Access& access, const Step& load) {
  const bool wide = access.register_bits == 64;
  const auto offset = static_cast<std::uint64_t>(load.offset);
  auto known = std::ranges::find_if(reader_.kernel().parameter_slots, [&](const ParameterSlot& one) {
    return one.offset == offset && one.bytes * 8 == access.register_bits;
  });
  if (known == reader_.kernel().parameter_slots.end()) {
    const Slot slot = reader_.kernel().registers->reserve(wide ? Kind::bits64 : Kind::bits32);
    reader_.kernel().parameter_slots.push_back({slot, offset, wide ? 8u : 4u});
    known = std::prev(reader_.kernel().parameter_slots.end());
  }
  return OperandReader::computing(wide ? "mov.b64" : "mov.b32", load.data[0], {known->slot});
}

Step MemoryDecoder::store() {
  Written written = access_as_written(reader_);
  if (written.parameter && !is_passed(reader_.operand(0))) reader_.fail("a kernel's parameters are only read");
  if (written.parameter) written.access.space = AddressSpace::local;
  Step step;
  step.strong = written.strong;
  reader_.set_address(step, reader_.operand(0));
  set_data(step, written.access, reader_.operand(1));
  step.stores_word = written.access.vector == 1 && written.access.register_bits <= 32;
  return finished(step, written.access.space, find_store(written.access));
}

//! atom.global.add.f32 result, [address], a, b; red has no result.
Step MemoryDecoder::atomic() {
  static const std::set<std::string, std::less<>> operations{"add", "min", "max", "inc", "dec",
                                                             "and", "or",  "xor", "cas", "exch"};
  AddressSpace space = AddressSpace::generic;
  std::string operation, type;
  for (const std::string& word : reader_.instruction().modifiers) {
    if (word == "global")
      space = AddressSpace::global;
    else if (word == "shared" || word == "shared::cta")
      space = AddressSpace::shared;
    else if (operations.contains(word))
      operation = word;
    else if (ptx::bytes_of_type(word) > 0)
      type = word;
    else if (!harmless.contains(word))
      reader_.unknown();
  }
  Step step;
  const bool without_result = reader_.instruction().opcode == "red";
  const std::size_t first = without_result ? 0 : 1;
  reader_.expect_operands(first + (operation == "cas" ? 3 : 2));
  if (!without_result) step.operation.result = reader_.register_of(reader_.operand(0)).slot;
  reader_.set_address(step, reader_.operand(first));
  for (std::size_t i = first + 1; i < reader_.instruction().operands.size(); ++i)
    step.operation.operands.at(i - first) = value_of(reader_.instruction().operands[i], type);
  return finished(step, space, small_or_other_atomic(operation, type));
}

//! Accesses of the same kind through the same register share a pattern: only their offsets differ.
Step MemoryDecoder::finished(Step& step, AddressSpace space, Effect effect) {
  if (!effect) reader_.unknown();
  step.flow = Flow::effect;
  step.effect = effect;
  step.space = space;
  const auto [found, added] =
      patterns_.emplace(std::tuple(step.operation.operands[0], effect, space), reader_.kernel().patterns);
  if (added) ++reader_.kernel().patterns;
  step.pattern = found->second;
  return step;
}

//! Registers, of one size; what is stored may also be a number.
void MemoryDecoder::set_data(Step& step, Access& access, const Operand& given) {
  const std::vector<Operand> single{given};
  const auto& all = given.kind == Operand::Kind::list ? given.elements : single;
  if (static_cast<int>(all.size()) != access.vector) reader_.fail("as many registers as elements are expected");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool number = all[i].kind == Operand::Kind::integer || all[i].kind == Operand::Kind::floating;
    if (number && reader_.instruction().opcode != "st") reader_.fail("a register is expected");
    const auto bits = number ? bits_of(kind_of_register(access.type, reader_.instruction().at.ptx_line))
                             : bits_of(reader_.register_of(all[i]).kind);
    step.data[i] = value_of(all[i], access.type);
    if (i > 0 && bits != access.register_bits) reader_.fail("registers of one size are expected");
    access.register_bits = bits;
  }
}

Slot MemoryDecoder::value_of(const Operand& given, const std::string& type) {
  if (given.kind == Operand::Kind::name) return reader_.register_of(given).slot;
  const Kind kind = kind_of_register(type, reader_.instruction().at.ptx_line);
  if (given.kind == Operand::Kind::floating && !given.single && kind == Kind::real32)
    reader_.fail("a number of 32 bits is expected");
  return reader_.kernel().registers->constant(given.bits, kind);
}

}  // namespace cudal1::vgpu
