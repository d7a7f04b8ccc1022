#include "device/vgpu/machine/quick_steps.hpp"

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
      {Quick::copy32, {"mov.b32", "mov.u32", "mov.s32", "mov.f32"}},
      {Quick::copy64, {"mov.b64", "mov.u64", "mov.s64", "mov.f64"}}};
  std::map<Handler, Quick> found;
  for (const auto& [quick, opcodes] : names)
    for (const char* opcode : opcodes)
      if (const ArithmeticOpcode* known = find_arithmetic(opcode)) found[known->run] = quick;
  return found;
}

Quick quick_of_operation(const Operation& operation) {
  static const std::map<Handler, Quick> known = quick_operations();
  const auto found = known.find(operation.run);
  return found == known.end() ? Quick::call_operation : found->second;
}

Quick quick_of_effect(const Step& step) {
  static const Effect word = find_load({AddressSpace::shared, "u32", 1, 32});
  static const Effect vectors = find_load({AddressSpace::shared, "u32", 4, 32});
  if (step.space != AddressSpace::shared) return Quick::call_effect;
  if (step.effect == word) return Quick::load_shared;
  return step.effect == vectors ? Quick::load_shared_vectors : Quick::call_effect;
}

Quick quick_of(const Step& step) {
  if (step.flow == Flow::branch) return Quick::branch;
  if (step.guard != 0) return Quick::leave;
  if (step.flow == Flow::compute) return quick_of_operation(step.operation);
  return step.flow == Flow::effect ? quick_of_effect(step) : Quick::leave;
}

}  // namespace

void mark_quick_steps(Kernel& kernel) {
  for (Step& step : kernel.steps) step.quick = quick_of(step);
}

}  // namespace cudal1::vgpu
