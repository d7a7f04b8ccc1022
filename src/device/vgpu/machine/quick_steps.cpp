#include "device/vgpu/machine/quick_steps.hpp"

#include <fmt/format.h>

#include "device/vgpu/machine/effects.hpp"

namespace cudal1::vgpu {
namespace {

//! By what does them, since an operation no longer knows its name.
std::map<Handler, Quick> quick_operations() {
  static const std::vector<std::pair<Quick, std::vector<const char*>>> names{
      {Quick::fused_multiply_add, {"fma.rn.f32"}},
      {Quick::add_real, {"add.rn.f32"}},
      {Quick::multiply_real, {"mul.rn.f32"}},
      {Quick::add32, {"add.s32", "add.u32"}},
      {Quick::add64, {"add.s64", "add.u64"}},
      {Quick::multiply_wide_unsigned, {"mul.wide.u32"}},
      {Quick::multiply_wide_signed, {"mul.wide.s32"}},
      {Quick::copy32, {"mov.b32", "mov.u32", "mov.s32", "mov.f32"}},
      {Quick::copy64, {"mov.b64", "mov.u64", "mov.s64", "mov.f64"}}};
  std::map<Handler, Quick> found;
  for (const auto& [quick, opcodes] : names)
    for (const char* opcode : opcodes)
      if (const ArithmeticOpcode* known = find_arithmetic(opcode)) found[known->run] = quick;
  return found;
}

//! What is set in a Step.
struct Comparison {
  bool less, equal, greater, has_sign;
};

std::map<Handler, Comparison> quick_comparisons() {
  static const std::vector<std::pair<const char*, Comparison>> names{
      {"eq.s32", {false, true, false, true}},  {"ne.s32", {true, false, true, true}},
      {"eq.u32", {false, true, false, false}}, {"ne.u32", {true, false, true, false}},
      {"eq.b32", {false, true, false, false}}, {"ne.b32", {true, false, true, false}},
      {"lt.s32", {true, false, false, true}},  {"le.s32", {true, true, false, true}},
      {"gt.s32", {false, false, true, true}},  {"ge.s32", {false, true, true, true}},
      {"lt.u32", {true, false, false, false}}, {"le.u32", {true, true, false, false}},
      {"gt.u32", {false, false, true, false}}, {"ge.u32", {false, true, true, false}},
      {"lo.u32", {true, false, false, false}}, {"ls.u32", {true, true, false, false}},
      {"hi.u32", {false, false, true, false}}, {"hs.u32", {false, true, true, false}}};
  std::map<Handler, Comparison> found;
  for (const auto& [name, comparison] : names)
    if (const ArithmeticOpcode* known = find_arithmetic(fmt::format("setp.{}", name))) found[known->run] = comparison;
  return found;
}

bool set_comparison(Step& step) {
  static const std::map<Handler, Comparison> known = quick_comparisons();
  const auto found = known.find(step.operation.run);
  if (found == known.end() || step.operation.second_result != 0) return false;
  const auto& [less, equal, greater, has_sign] = found->second;
  step.less = less;
  step.equal = equal;
  step.greater = greater;
  step.has_sign = has_sign;
  return true;
}

Quick quick_of_operation(Step& step) {
  static const std::map<Handler, Quick> known = quick_operations();
  if (set_comparison(step)) return Quick::compare32;
  const auto found = known.find(step.operation.run);
  return found == known.end() ? Quick::call_operation : found->second;
}

Quick quick_of_effect(const Step& step) {
  static const Effect word = find_load({AddressSpace::shared, "u32", 1, 32});
  static const Effect vectors = find_load({AddressSpace::shared, "u32", 4, 32});
  if (step.space != AddressSpace::shared) return Quick::call_effect;
  if (step.effect == word) return Quick::load_shared;
  return step.effect == vectors ? Quick::load_shared_vectors : Quick::call_effect;
}

Quick quick_of(Step& step, const RegisterMap& registers) {
  if (step.flow == Flow::branch) return Quick::branch;
  if (step.guard != 0) return Quick::leave;
  switch (step.flow) {
    case Flow::compute:
      return quick_of_operation(step);
    case Flow::effect:
      return quick_of_effect(step);
    case Flow::gather:
      return registers.is_constant(step.members, full_mask) ? Quick::gather : Quick::leave;
    case Flow::barrier:
      return step.barrier_is_fixed ? Quick::barrier : Quick::leave;
    default:
      return Quick::leave;
  }
}

}  // namespace

void mark_quick_steps(Kernel& kernel) {
  for (Step& step : kernel.steps) step.quick = quick_of(step, *kernel.registers);
}

}  // namespace cudal1::vgpu
