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
  number_registers();
  find_wanted();
}

void Liveness::number_registers() {
  std::ranges::sort(registers_, {}, &RegisterMap::Register::slot);
  if (!registers_.empty()) numbers_.assign(registers_.back().slot / sizeof(Mask) + 1, nobody);
  for (std::size_t i = 0; i < registers_.size(); ++i)
    numbers_[registers_[i].slot / sizeof(Mask)] = static_cast<std::uint32_t>(i);
}

void Liveness::find_wanted() {
  std::vector<RegisterSet> before = registers_wanted(
      stretches_.size(), registers_.size(), [&](std::size_t stretch, auto visit) { for_each_next(stretch, visit); },
      [&](std::size_t stretch, RegisterSet& wanted) {
        for (std::size_t i = stretches_[stretch].end; i-- > stretches_[stretch].begin;)
          step_back(kernel_.steps[i], wanted);
      });
  for (std::size_t i = 0; i < stretches_.size(); ++i) stretches_[i].wanted = std::move(before[i]);
}

RegisterSet Liveness::wanted_behind(std::size_t stretch) const {
  RegisterSet wanted(registers_.size());
  for_each_next(stretch, [&](std::size_t next) { wanted.insert(stretches_[next].wanted); });
  return wanted;
}

//! What is wanted behind a step is no longer wanted before it where it writes that, and what it reads is.
void Liveness::step_back(const Step& step, RegisterSet& wanted) const {
  if (step.guard == 0)  // else some threads keep what they had
    for_each_written(step, [&](std::size_t number) { wanted.erase(number); });
  for_each_read(step, [&](std::size_t number) { wanted.insert(number); });
}

std::size_t Liveness::stretch_at(std::size_t first_step) const {
  const auto found = std::ranges::lower_bound(stretches_, first_step, {}, &Stretch::begin);
  return static_cast<std::size_t>(found - stretches_.begin());
}

}  // namespace cudal1::vgpu
