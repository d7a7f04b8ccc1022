#include "device/vgpu/machine/liveness.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

std::vector<Liveness::Stretch> stretches_of(const std::vector<Step>& steps) {
  std::vector<bool> begins(steps.size() + 1);
  begins[0] = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].flow == Flow::branch) begins[steps[i].target] = true;
    if (steps[i].flow == Flow::branch || steps[i].flow == Flow::exit) begins[i + 1] = true;
  }
  std::vector<Liveness::Stretch> stretches;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (begins[i]) stretches.push_back({i, i, {}});
    stretches.back().end = i + 1;
  }
  return stretches;
}

}  // namespace

Liveness::Liveness(const Kernel& kernel)
    : kernel_(kernel), registers_(kernel.registers->registers_in("")), stretches_(stretches_of(kernel.steps)) {
  std::ranges::sort(registers_, {}, &RegisterMap::Register::slot);
  if (!registers_.empty()) numbers_.assign(registers_.back().slot / sizeof(Mask) + 1, nobody);
  for (std::size_t i = 0; i < registers_.size(); ++i)
    numbers_[registers_[i].slot / sizeof(Mask)] = static_cast<std::uint32_t>(i);
  for (Stretch& stretch : stretches_) stretch.wanted = RegisterSet(registers_.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = stretches_.size(); i-- > 0;) changed |= update(i);
  }
}

RegisterSet Liveness::wanted_behind(std::size_t number) const {
  const Step& last = kernel_.steps[stretches_[number].end - 1];
  RegisterSet wanted(registers_.size());
  const bool leaves = last.guard == 0 && (last.flow == Flow::branch || last.flow == Flow::exit);
  if (!leaves && number + 1 < stretches_.size()) wanted.insert(stretches_[number + 1].wanted);
  if (last.flow == Flow::branch) wanted.insert(at_step(last.target).wanted);
  return wanted;
}

bool Liveness::update(std::size_t number) {
  Stretch& stretch = stretches_[number];
  RegisterSet wanted = wanted_behind(number);
  for (std::size_t i = stretch.end; i-- > stretch.begin;) step_back(kernel_.steps[i], wanted);
  if (wanted == stretch.wanted) return false;
  stretch.wanted = std::move(wanted);
  return true;
}

//! What is wanted behind a step is no longer wanted before it where it writes that, and what it reads is.
void Liveness::step_back(const Step& step, RegisterSet& wanted) const {
  if (step.guard == 0)  // else some threads keep what they had
    for_each_written(step, [&](std::size_t number) { wanted.erase(number); });
  for_each_read(step, [&](std::size_t number) { wanted.insert(number); });
}

const Liveness::Stretch& Liveness::at_step(std::size_t step) const {
  return *std::ranges::lower_bound(stretches_, step, {}, &Stretch::begin);
}

}  // namespace cudal1::vgpu
