#include "device/vgpu/machine/decode_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable_name.hpp"
#include "device/vgpu/machine/call_stack.hpp"
#include "device/vgpu/machine/system_calls.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

Step copy_step(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  Step step = OperandReader::of_effect(&copy_parameter);
  step.operation.operands = {static_cast<Slot>(to), static_cast<Slot>(from)};
  step.target = static_cast<std::uint32_t>(bytes);
  return step;
}

}  // namespace

std::string CallDecoder::scope_of(const ptx::Function& function) const {
  return &function == &entry_ ? "" : fmt::format("{}/", function.name);
}

Step CallDecoder::nothing() {
  return of_effect([](Warp&, const Step&, Mask) {});
}

// --- jumps

void CallDecoder::jump_to(const ptx::Function& function, std::size_t instruction) {
  jumps_.push_back({kernel_.steps.size(), &function, instruction});
}

void CallDecoder::set_targets() {
  for (const Jump& jump : jumps_)
    kernel_.steps[jump.step].target = static_cast<std::uint32_t>(first_steps_.at(jump.function).at(jump.instruction));
  for (const auto& [step, site] : returns_) kernel_.steps[step].target = behind_call_.at(site);
}

//! A step that sets this predicate where a register has this value and the instruction's guard holds.
Step CallDecoder::compare_with(Slot predicate, Slot value, std::uint32_t wanted) {
  Slot guard = kernel_.registers->constant(1, Kind::predicate);
  if (now_->guard) {
    const auto found = kernel_.registers->find(now_->guard->predicate);
    if (!found || found->kind != Kind::predicate) fail("a guard must be a predicate");
    guard = found->slot;
    if (now_->guard->negated) {
      guard = kernel_.registers->reserve(Kind::predicate);
      push_always(computing("not.pred", guard, {found->slot}));
    }
  }
  return computing("setp.eq.and.u32", predicate, {value, kernel_.registers->constant(wanted, Kind::bits32), guard});
}

Step CallDecoder::branch_where(Slot value, std::uint32_t wanted) {
  const Slot predicate = kernel_.registers->reserve(Kind::predicate);
  push_always(compare_with(predicate, value, wanted));
  Step step = of_flow(Flow::branch);
  step.guard = predicate;
  return step;
}

// --- calls

Step CallDecoder::call() {
  const CallOperands operands = operands_of_call(*now_);
  if (find_system_function(operands.function->name)) return call_system(operands);
  const ptx::Function& callee = *calls_.callees.at(now_);
  const bool recursive = calls_.recursive.contains(&callee);
  const std::uint32_t site = calls_.sites.at(now_);
  pass(operands.arguments, callee, callee.parameters, recursive ? Passing::through_stack_in : Passing::in);
  push(computing("mov.u32", return_sites_.at(&callee), {kernel_.registers->constant(site, Kind::bits32)}));
  jump_to(callee, 0);
  push(of_flow(Flow::branch));
  behind_call_[site] = static_cast<std::uint32_t>(kernel_.steps.size());
  pass(operands.results, callee, callee.results, recursive ? Passing::through_stack_out : Passing::out);
  return nothing();
}

//! Where parameters of a function that calls itself are between its activations.
std::uint64_t CallDecoder::transfer_area(const ptx::Function& callee) {
  std::uint64_t& area = transfer_areas_[&callee];
  if (area != 0) return area;
  area = kernel_.local_bytes = round_up(kernel_.local_bytes + 1, 16);
  for (const auto* variables : {&callee.parameters, &callee.results})
    for (const ptx::Variable& variable : *variables) kernel_.local_bytes += round_up(variable.bytes(), 16);
  return area;
}

void CallDecoder::pass(const Operand* given, const ptx::Function& callee, const std::vector<ptx::Variable>& formals,
                       Passing passing) {
  const std::size_t count = given ? given->elements.size() : 0;
  if (count != formals.size())
    fail(fmt::format("'{}' is called with {} values, not {}", readable_name(callee.name), count, formals.size()));
  std::vector<Step> to_formals, to_transfer, from_transfer;
  const bool in = passing == Passing::in || passing == Passing::through_stack_in;
  const bool stacked = passing == Passing::through_stack_in || passing == Passing::through_stack_out;
  std::uint64_t transfer = stacked ? transfer_area(callee) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto actual = address_of(given->elements[i].name);
    if (!actual) fail(fmt::format("'{}' is no parameter", given->elements[i].name));
    const std::uint64_t formal = addresses_.at(scope_of(callee) + formals[i].name), bytes = formals[i].bytes();
    const std::uint64_t from = in ? *actual : formal, to = in ? formal : *actual;
    to_formals.push_back(copy_step(to, from, bytes));
    to_transfer.push_back(copy_step(transfer, from, bytes));
    from_transfer.push_back(copy_step(to, transfer, bytes));
    transfer += round_up(bytes, 16);
  }
  if (!stacked) return push_all(to_formals);
  push_all(to_transfer);
  push(frame_step(callee, in ? &save_frame : &restore_frame));
  push_all(from_transfer);
}

void CallDecoder::push_all(const std::vector<Step>& steps) {
  for (const Step& step : steps) push(step);
}

Step CallDecoder::frame_step(const ptx::Function& callee, Effect effect) {
  Frame& frame = frames_.at(&callee);
  if (frame.registers.empty()) {
    frame.registers = kernel_.registers->registers_in(scope_of(callee));
    frame.registers.push_back({return_sites_.at(&callee), Kind::bits32});
  }
  Step step = of_effect(effect);
  step.target = static_cast<std::uint32_t>(kernel_.frames.size());
  kernel_.frames.push_back(frame);
  return step;
}

//! A comparison and a branch for each place that calls this function.
Step CallDecoder::return_to_caller() {
  for (const auto& [instruction, callee] : calls_.callees) {
    if (callee != function_) continue;
    const std::uint32_t site = calls_.sites.at(instruction);
    const Step step = branch_where(return_sites_.at(function_), site);
    returns_.emplace_back(kernel_.steps.size(), site);
    push_always(step);
  }
  return nothing();
}

// --- calls of what the device itself provides

std::uint64_t CallDecoder::passed_at(const Operand* list, std::size_t index) const {
  const auto address = address_of(list->elements[index].name);
  if (!address) fail(fmt::format("'{}' is no parameter", list->elements[index].name));
  return *address;
}

Step CallDecoder::call_system(const CallOperands& operands) {
  const SystemFunction& function = *find_system_function(operands.function->name);
  const std::size_t arguments = operands.arguments ? operands.arguments->elements.size() : 0;
  const std::size_t results = operands.results ? operands.results->elements.size() : 0;
  if (arguments != function.arguments || results != function.results)
    fail(fmt::format("'{}' takes {} values and gives {}", operands.function->name, function.arguments,
                     function.results));
  Step step = of_effect(function.effect);
  for (std::size_t i = 0; i < std::min(arguments, step.operation.operands.size()); ++i)
    step.operation.operands[i] = static_cast<Slot>(passed_at(operands.arguments, i));
  if (results > 0) step.operation.result = static_cast<Slot>(passed_at(operands.results, 0));
  kernel_.blocks_may_meet |= function.in_order;
  return step;
}

}  // namespace cudal1::vgpu
