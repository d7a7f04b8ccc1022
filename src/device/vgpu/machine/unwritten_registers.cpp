#include "device/vgpu/machine/unwritten_registers.hpp"

#include <algorithm>
#include <span>

namespace cudal1::vgpu {
namespace {

//! A bit for each register of the kernel, whatever its slot.
using RegisterSet = std::vector<bool>;

class RegisterIndex {
 public:
  explicit RegisterIndex(const Kernel& kernel) : all_(kernel.registers->registers_in("")) {
    std::ranges::sort(all_, {}, &RegisterMap::Register::slot);
  }
  std::size_t size() const { return all_.size(); }
  SlotRange range(std::size_t index) const {
    const Kind kind = all_[index].kind;
    const std::uint32_t bytes = kind == Kind::predicate ? sizeof(Mask) : warp_size * (bits_of(kind) == 64 ? 8 : 4);
    return {all_[index].slot, bytes};
  }
  //! Constants, special registers and the machine's own have no place here: nobody reads them unwritten.
  void set(RegisterSet& registers, Slot slot, bool present) const {
    const auto found = std::ranges::lower_bound(all_, slot, {}, &RegisterMap::Register::slot);
    if (found != all_.end() && found->slot == slot) registers[static_cast<std::size_t>(found - all_.begin())] = present;
  }

 private:
  std::vector<RegisterMap::Register> all_;
};

//! What is read at its end is no longer wanted before a step that writes it, and what that step reads is.
void step_back(const Kernel& kernel, const RegisterIndex& index, const Step& step, RegisterSet& wanted) {
  const auto set = [&](std::span<const Slot> slots, bool present) {
    for (const Slot slot : slots)
      if (slot != 0) index.set(wanted, slot, present);
  };
  if (step.guard == 0) {  // else some threads keep what they had
    set({{step.operation.result, step.operation.second_result}}, false);
    if (step.loads) set(step.data, false);
  }
  set({{step.guard, step.members}}, true);
  set(step.operation.operands, true);
  if (!step.loads) set(step.data, true);
  if (step.flow == Flow::gather && step.target < kernel.slot_lists.size()) set(kernel.slot_lists[step.target], true);
}

struct Stretch {
  std::size_t begin = 0, end = 0;  // steps, the last of which may go elsewhere
  RegisterSet wanted;              // at its beginning
};

std::vector<Stretch> stretches_of(const Kernel& kernel) {
  const std::vector<Step>& steps = kernel.steps;
  std::vector<bool> begins(steps.size() + 1);
  begins[0] = begins[steps.size()] = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].flow == Flow::branch) begins[steps[i].target] = true;
    if (steps[i].flow == Flow::branch || steps[i].flow == Flow::exit) begins[i + 1] = true;
  }
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (begins[i])
      stretches.push_back({i, i + 1, {}});
    else
      stretches.back().end = i + 1;
  return stretches;
}

class Liveness {
 public:
  explicit Liveness(const Kernel& kernel) : kernel_(kernel), index_(kernel), stretches_(stretches_of(kernel)) {
    for (Stretch& stretch : stretches_) stretch.wanted.resize(index_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = stretches_.size(); i-- > 0;) changed |= update(i);
    }
  }

  std::vector<SlotRange> wanted_at_entry() const {
    std::vector<SlotRange> ranges;
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (stretches_.front().wanted[i]) ranges.push_back(index_.range(i));
    return ranges;
  }

 private:
  bool update(std::size_t number) {
    Stretch& stretch = stretches_[number];
    const Step& last = kernel_.steps[stretch.end - 1];
    RegisterSet wanted(index_.size());
    const bool leaves = last.guard == 0 && (last.flow == Flow::branch || last.flow == Flow::exit);
    if (!leaves && number + 1 < stretches_.size()) add(wanted, stretches_[number + 1]);
    if (last.flow == Flow::branch) add(wanted, at_step(last.target));
    for (std::size_t i = stretch.end; i-- > stretch.begin;) step_back(kernel_, index_, kernel_.steps[i], wanted);
    if (wanted == stretch.wanted) return false;
    stretch.wanted = std::move(wanted);
    return true;
  }

  static void add(RegisterSet& to, const Stretch& stretch) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] || stretch.wanted[i];
  }

  const Stretch& at_step(std::size_t step) const {
    return *std::ranges::lower_bound(stretches_, step, {}, &Stretch::begin);
  }

  const Kernel& kernel_;
  RegisterIndex index_;
  std::vector<Stretch> stretches_;
};

}  // namespace

std::vector<SlotRange> registers_read_unwritten(const Kernel& kernel) {
  // Functions that call themselves save all their registers, written or not.
  if (!kernel.frames.empty()) return {{0, static_cast<std::uint32_t>(kernel.registers->declared_bytes())}};
  return Liveness(kernel).wanted_at_entry();
}

}  // namespace cudal1::vgpu
