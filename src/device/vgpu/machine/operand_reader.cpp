#include "device/vgpu/machine/operand_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/vgpu/machine/instruction_class.hpp"
#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

constexpr std::array<const char*, static_cast<std::size_t>(Special::count)> special_names{
    "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
    "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid"};

}  // namespace

void OperandReader::fail(const std::string& message) const { throw ptx::PtxError(now_->at.ptx_line, message); }

void OperandReader::unknown() const { throw ptx::UnknownInstruction(now_->at.ptx_line, now_->full_opcode()); }

bool OperandReader::has(const std::string& modifier) const {
  return std::ranges::find(now_->modifiers, modifier) != now_->modifiers.end();
}

const Operand& OperandReader::operand(std::size_t i) const {
  if (i >= now_->operands.size()) fail(fmt::format("'{}' has too few operands", now_->full_opcode()));
  return now_->operands[i];
}

void OperandReader::expect_operands(std::size_t count) const {
  if (now_->operands.size() != count)
    fail(fmt::format("'{}' takes {} operands, not {}", now_->full_opcode(), count, now_->operands.size()));
}

RegisterMap::Register OperandReader::register_of(const Operand& named) const {
  const auto found = kernel_.registers->find(named.name);
  if (named.kind != Operand::Kind::name || !found) fail(fmt::format("the register '{}' is not known", named.name));
  return *found;
}

Slot OperandReader::register_with(const Operand& named, std::uint32_t bits) const {
  const auto found = register_of(named);
  if (bits_of(found.kind) != bits) fail(fmt::format("'{}' has not the right size", named.name));
  return found.slot;
}

std::vector<Slot> OperandReader::registers_with(const Operand& given, std::uint32_t bits) const {
  if (given.kind != Operand::Kind::list) return {register_with(given, bits)};
  std::vector<Slot> slots;
  for (const Operand& element : given.elements) slots.push_back(register_with(element, bits));
  return slots;
}

std::optional<std::uint64_t> OperandReader::address_of(const std::string& name) const {
  for (const std::string& known : {scope_ + name, name}) {
    if (const auto found = addresses_.find(known); found != addresses_.end()) return found->second;
    if (dynamic_shared_.contains(known)) return kernel_.static_shared_bytes;
  }
  return std::nullopt;
}

Slot OperandReader::source32(const Operand& given) {
  if (given.kind == Operand::Kind::integer) return kernel_.registers->constant(given.bits & 0xffffffffu, Kind::bits32);
  if (const auto special = special_slot(given.name)) return *special;
  return register_of(given).slot;
}

std::optional<Slot> OperandReader::special_slot(const std::string& name) {
  const auto found = std::ranges::find(special_names, name);
  if (found == special_names.end()) return std::nullopt;
  Slot& slot = kernel_.special[static_cast<std::size_t>(found - special_names.begin())];
  if (slot == 0) slot = kernel_.registers->reserve(Kind::bits32);
  return slot;
}

//! Addresses of shared memory also come in 32 bits, and are extended then.
Slot OperandReader::address_slot(const Operand& address) {
  if (address.kind != Operand::Kind::address) fail("an address is expected");
  const Operand& base = address.elements.at(0);
  if (base.kind == Operand::Kind::integer) return kernel_.registers->constant(base.bits, Kind::bits64);
  if (const auto known = address_of(base.name)) return kernel_.registers->constant(*known, Kind::bits64);
  const auto found = register_of(base);
  if (found.kind == Kind::bits64) return found.slot;
  if (found.kind != Kind::bits32) fail("an address has 64 bits");
  const Slot extended = kernel_.registers->reserve(Kind::bits64);
  push(computing("cvt.u64.u32", extended, {found.slot}));
  return extended;
}

void OperandReader::set_address(Step& step, const Operand& address) {
  step.operation.operands[0] = address_slot(address);
  step.offset = address.offset;
}

void OperandReader::set_vote(Step& step, Slot& slot, const Operand& vote) const {
  slot = register_with(vote, 1);
  step.vote_negated = vote.negated;
}

void OperandReader::push(Step step) {
  if (now_->guard) {
    const auto guard = kernel_.registers->find(now_->guard->predicate);
    if (!guard || guard->kind != Kind::predicate) fail("a guard must be a predicate");
    step.guard = guard->slot;
    step.guard_negated = now_->guard->negated;
  }
  push_always(step);
}

void OperandReader::push_always(Step step) {
  step.at = now_->at;
  step.pipe = pipe_of(*now_);
  step.tensor_products = tensor_products_of(*now_);
  kernel_.steps.push_back(step);
  owners_.push_back(now_);
}

Step OperandReader::computing(const std::string& opcode, Slot result, const std::vector<Slot>& operands) {
  Step step;
  step.operation.run = find_arithmetic(opcode)->run;
  step.operation.result = result;
  std::ranges::copy(operands, step.operation.operands.begin());
  return step;
}

Step OperandReader::of_flow(Flow flow) {
  Step step;
  step.flow = flow;
  return step;
}

Step OperandReader::of_effect(Effect effect) {
  Step step;
  step.flow = Flow::effect;
  step.effect = effect;
  return step;
}

Step OperandReader::together(Step step, Slot members) {
  step.flow = Flow::gather;
  step.members = members;
  return step;
}

}  // namespace cudal1::vgpu
