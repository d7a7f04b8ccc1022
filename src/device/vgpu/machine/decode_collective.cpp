// shfl, vote, match, redux, activemask, mma, ldmatrix, movmatrix, cp.async.
#include <fmt/format.h>

#include <charconv>
#include <set>

#include "device/vgpu/machine/async_copy.hpp"
#include "device/vgpu/machine/collectives.hpp"
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/matrix.hpp"
#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

//! What is defined only where no lane is missing.
Step of_whole_warp(OperandReader& reader, Effect effect) {
  const Slot all_lanes = reader.kernel().registers->constant(full_mask, Kind::bits32);
  Step step = OperandReader::together(OperandReader::of_effect(effect), all_lanes);
  step.needs_all_lanes = true;
  return step;
}

//! "m16n8k8".
bool read_shape(const std::string& word, MatrixProduct& product) {
  int* const numbers[] = {&product.m, &product.n, &product.k};
  const char* at = word.data();
  const char* const end = at + word.size();
  for (int i = 0; i < 3; ++i) {
    if (at == end || *at != "mnk"[i]) return false;
    const auto [next, problem] = std::from_chars(at + 1, end, *numbers[i]);
    if (problem != std::errc()) return false;
    at = next;
  }
  return at == end;
}

//! mma.sync.aligned.m16n8k8.row.col{.satfinite}.f32.tf32.tf32.f32
MatrixProduct product_as_written(OperandReader& reader) {
  MatrixProduct product;
  std::vector<std::string> types;
  std::string layout;
  for (const std::string& word : reader.instruction().modifiers) {
    if (word == "row" || word == "col")
      layout += word;
    else if (word == "satfinite")
      product.saturating = true;
    else if (ptx::bytes_of_type(word) > 0)
      types.push_back(word);
    else if (word != "sync" && word != "aligned" && word != "rn" && !read_shape(word, product))
      reader.unknown();
  }
  if (types.size() != 4 || types[0] != types[3] || layout != "rowcol" || !reader.has("sync")) reader.unknown();
  product.accumulator = types[0];
  product.a = types[1];
  product.b = types[2];
  return product;
}

void put_slots(OperandReader& reader, std::array<Slot, 16>& list, std::size_t first, const Operand& given,
               std::size_t count, std::uint32_t bits) {
  const std::vector<Slot> slots = reader.registers_with(given, bits);
  if (slots.size() != count) reader.fail(fmt::format("{} registers are expected, not {}", count, slots.size()));
  std::copy(slots.begin(), slots.end(), list.begin() + static_cast<std::ptrdiff_t>(first));
}

Step matrix_product(OperandReader& reader) {
  const MatrixProduct product = product_as_written(reader);
  const KnownProduct known = find_matrix_product(product);
  if (!known.effect) reader.unknown();
  reader.expect_operands(4);
  const std::uint32_t bits = product.a == "f64" ? 64 : 32;
  std::array<Slot, 16> slots{};
  put_slots(reader, slots, d_slots, reader.operand(0), known.registers.d, bits);
  put_slots(reader, slots, a_slots, reader.operand(1), known.registers.a, bits);
  put_slots(reader, slots, b_slots, reader.operand(2), known.registers.b, bits);
  put_slots(reader, slots, c_slots, reader.operand(3), known.registers.c, bits);
  Step step = of_whole_warp(reader, known.effect);
  step.target = static_cast<std::uint32_t>(reader.kernel().slot_lists.size());
  reader.kernel().slot_lists.push_back(slots);
  return step;
}

//! ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 {a, b, c, d}, [address]
Step load_matrix(OperandReader& reader) {
  int matrices = 0;
  AddressSpace space = AddressSpace::generic;
  for (const std::string& word : reader.instruction().modifiers) {
    if (word == "x1" || word == "x2" || word == "x4")
      matrices = word[1] - '0';
    else if (word == "shared" || word == "shared::cta")
      space = AddressSpace::shared;
    else if (word != "sync" && word != "aligned" && word != "m8n8" && word != "trans" && word != "b16")
      reader.unknown();
  }
  const Effect effect = find_load_matrix(matrices, reader.has("trans"));
  if (!effect || !reader.has("m8n8") || !reader.has("b16")) reader.unknown();
  reader.expect_operands(2);
  const std::vector<Slot> registers = reader.registers_with(reader.operand(0), 32);
  if (registers.size() != static_cast<std::size_t>(matrices))
    reader.fail(fmt::format("{} registers are expected, not {}", matrices, registers.size()));
  Step step = of_whole_warp(reader, effect);
  std::copy(registers.begin(), registers.end(), step.data.begin());
  reader.set_address(step, reader.operand(1));
  step.space = space;
  return step;
}

Step move_matrix(OperandReader& reader) {
  if (reader.instruction().full_opcode() != "movmatrix.sync.aligned.m8n8.trans.b16") reader.unknown();
  reader.expect_operands(2);
  Step step = of_whole_warp(reader, &transpose_matrix);
  step.operation.result = reader.register_with(reader.operand(0), 32);
  step.operation.operands[0] = reader.register_with(reader.operand(1), 32);
  return step;
}

// --- cp.async
Step wait_group(OperandReader& reader) {
  reader.expect_operands(1);
  if (reader.operand(0).kind != Operand::Kind::integer) reader.fail("a number of groups is expected");
  Step step = OperandReader::of_effect(&wait_for_async_groups);
  step.target = static_cast<std::uint32_t>(reader.operand(0).bits);
  return step;
}

void check_copy_words(OperandReader& reader) {
  static const std::set<std::string, std::less<>> known{"async",  "ca",      "cg",       "shared",  "shared::cta",
                                                        "global", "L2::64B", "L2::128B", "L2::256B"};
  for (const std::string& word : reader.instruction().modifiers)
    if (!known.contains(word)) reader.unknown();
  if (!reader.has("global") || reader.has("ca") == reader.has("cg")) reader.unknown();
}

//! cp.async.ca.shared.global [to], [from], bytes{, bytes that are read}
Step async_copy(OperandReader& reader) {
  check_copy_words(reader);
  if (reader.instruction().operands.size() != 4) reader.expect_operands(3);
  const Operand& size = reader.operand(2);
  const Effect effect =
      size.kind == Operand::Kind::integer ? find_async_copy(static_cast<std::uint32_t>(size.bits)) : nullptr;
  if (!effect || (reader.has("cg") && size.bits != 16)) reader.fail("cp.async copies 4, 8 or 16 bytes, with .cg 16");
  Step step = OperandReader::of_effect(effect);
  step.space = AddressSpace::shared;
  reader.set_address(step, reader.operand(0));
  step.operation.operands[1] = reader.address_slot(reader.operand(1));
  const auto source_offset = static_cast<std::uint64_t>(reader.operand(1).offset);
  step.operation.operands[3] = reader.kernel().registers->constant(source_offset, Kind::bits64);
  if (reader.instruction().operands.size() == 4) {
    const Operand& read = reader.operand(3);
    if (read.kind == Operand::Kind::name && bits_of(reader.register_of(read).kind) == 1)
      reader.fail("cp.async that may ignore its source is not known");
    step.operation.operands[2] = reader.source32(read);
  }
  return step;
}

Step copy(OperandReader& reader) {
  const std::string name = reader.instruction().full_opcode();
  if (name == "cp.async.commit_group") return OperandReader::of_effect(&commit_async_copies);
  if (name == "cp.async.wait_all") return OperandReader::of_effect(&wait_for_async_copies);
  if (name == "cp.async.wait_group") return wait_group(reader);
  if (name.starts_with("cp.async.ca.") || name.starts_with("cp.async.cg.")) return async_copy(reader);
  reader.unknown();
}

// --- shfl, vote, match, redux
Step shuffle(OperandReader& reader) {
  if (reader.instruction().modifiers.size() != 3 || reader.instruction().modifiers[0] != "sync" ||
      reader.instruction().modifiers[2] != "b32")
    reader.unknown();
  Step step = OperandReader::of_effect(find_shuffle(reader.instruction().modifiers[1]));
  if (!step.effect) reader.unknown();
  const bool two_results = reader.instruction().operands.size() == 6;
  if (reader.instruction().operands.size() != 5 && !two_results) reader.fail("a shuffle has five operands");
  step.operation.result = reader.register_of(reader.operand(0)).slot;
  if (two_results) step.operation.second_result = reader.register_of(reader.operand(1)).slot;
  for (std::size_t i = 0; i < 4; ++i)
    step.operation.operands[i] = reader.source32(reader.operand(i + (two_results ? 2 : 1)));
  const Operand &count = reader.operand(two_results ? 3 : 2), &control = reader.operand(two_results ? 4 : 3);
  if (count.kind == Operand::Kind::integer && control.kind == Operand::Kind::integer) {
    reader.kernel().shuffles.push_back(fixed_shuffle(reader.instruction().modifiers[1],
                                                     static_cast<std::int32_t>(count.bits),
                                                     static_cast<std::int32_t>(control.bits)));
    step.target = static_cast<std::uint32_t>(reader.kernel().shuffles.size());
  }
  return OperandReader::together(step, step.operation.operands[3]);
}

Step vote(OperandReader& reader) {
  if (reader.instruction().modifiers.size() != 3 || reader.instruction().modifiers[0] != "sync") reader.unknown();
  Step step = OperandReader::of_effect(find_vote(reader.instruction().modifiers[1]));
  if (!step.effect) reader.unknown();
  step.operation.result = reader.register_of(reader.operand(0)).slot;
  reader.set_vote(step, step.operation.operands[0], reader.operand(1));
  return OperandReader::together(step, reader.source32(reader.operand(2)));
}

//! match.any.sync.b32 d, a, members; match.all.sync.b32 d|p, a, members
Step match(OperandReader& reader) {
  const auto& words = reader.instruction().modifiers;
  if (words.size() != 3 || words[1] != "sync" || (words[2] != "b32" && words[2] != "b64")) reader.unknown();
  const int bits = words[2] == "b32" ? 32 : 64;
  Step step = OperandReader::of_effect(find_match(words[0], bits));
  if (!step.effect) reader.unknown();
  const bool two_results = words[0] == "all" && reader.instruction().operands.size() == 4;
  reader.expect_operands(two_results ? 4 : 3);
  const std::size_t first = two_results ? 2 : 1;
  step.operation.result = reader.register_with(reader.operand(0), 32);
  if (two_results) step.operation.second_result = reader.register_with(reader.operand(1), 1);
  const Operand& given = reader.operand(first);
  step.operation.operands[0] = given.kind == Operand::Kind::integer && bits == 64
                                   ? reader.kernel().registers->constant(given.bits, Kind::bits64)
                               : bits == 64 ? reader.register_with(given, 64)
                                            : reader.source32(given);
  return OperandReader::together(step, reader.source32(reader.operand(first + 1)));
}

Step reduction(OperandReader& reader) {
  const auto& words = reader.instruction().modifiers;
  if (words.size() != 3 || words[0] != "sync") reader.unknown();
  Step step = OperandReader::of_effect(find_reduction(words[1], words[2]));
  if (!step.effect) reader.unknown();
  reader.expect_operands(3);
  step.operation.result = reader.register_with(reader.operand(0), 32);
  step.operation.operands[0] = reader.source32(reader.operand(1));
  return OperandReader::together(step, reader.source32(reader.operand(2)));
}

Step active_mask(OperandReader& reader) {
  if (reader.instruction().full_opcode() != "activemask.b32") reader.unknown();
  reader.expect_operands(1);
  Step step = OperandReader::of_effect(&active_lanes);
  step.operation.result = reader.register_with(reader.operand(0), 32);
  return step;
}

}  // namespace

std::optional<Step> decode_collective(OperandReader& reader) {
  const std::string& op = reader.instruction().opcode;
  if (op == "shfl") return shuffle(reader);
  if (op == "vote") return vote(reader);
  if (op == "mma") return matrix_product(reader);
  if (op == "ldmatrix") return load_matrix(reader);
  if (op == "movmatrix") return move_matrix(reader);
  if (op == "cp") return copy(reader);
  if (op == "match") return match(reader);
  if (op == "redux") return reduction(reader);
  if (op == "activemask") return active_mask(reader);
  return std::nullopt;
}

}  // namespace cudal1::vgpu
