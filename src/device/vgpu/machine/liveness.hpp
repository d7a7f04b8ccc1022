// Which registers are still wanted at which step of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/vgpu/machine/step.hpp"
#include "device/vgpu/ptx/wanted_registers.hpp"

namespace cudal1::vgpu {

//! Of the kernel's own registers. Constants, special registers and the machine's own are never unwritten and have no
//! number here. A thread goes its own way, whatever other lanes of its warp do, so threads are looked at one by one.
class Liveness {
 public:
  explicit Liveness(const Kernel& kernel);

  const std::vector<RegisterMap::Register>& registers() const { return registers_; }  //!< by slot
  const RegisterSet& wanted_at_entry() const { return stretches_.front().wanted; }

  //! Steps without a branch into them or out of them, except at their ends.
  struct Stretch {
    std::size_t begin = 0, end = 0;
    RegisterSet wanted;  //!< before its first step
  };
  const std::vector<Stretch>& stretches() const { return stretches_; }
  RegisterSet wanted_behind(std::size_t stretch) const;

  //! visit(number) for every register that the step names.
  template <class Visit>
  void for_each_named(const Step& step, Visit visit) const {
    for_each_written(step, visit);
    for_each_read(step, visit);
  }

 private:
  template <class Visit>
  void visit_all(std::span<const Slot> slots, Visit visit) const {
    for (const Slot slot : slots)
      if (const std::uint32_t number = number_of(slot); number != nobody) visit(std::size_t{number});
  }
  template <class Visit>
  void for_each_written(const Step& step, Visit visit) const {
    visit_all({{step.operation.result, step.operation.second_result}}, visit);
    if (step.loads) visit_all(step.data, visit);
  }
  template <class Visit>
  void for_each_read(const Step& step, Visit visit) const {
    visit_all({{step.guard, step.members}}, visit);
    visit_all(step.operation.operands, visit);
    if (!step.loads) visit_all(step.data, visit);
    if (step.flow == Flow::gather && step.target < kernel_.slot_lists.size())
      visit_all(kernel_.slot_lists[step.target], visit);
  }

  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t number_of(Slot slot) const {
    return slot / sizeof(Mask) < numbers_.size() ? numbers_[slot / sizeof(Mask)] : nobody;
  }
  //! visit(stretch) for those that a thread may come to next.
  template <class Visit>
  void for_each_next(std::size_t stretch, Visit visit) const {
    const Step& last = kernel_.steps[stretches_[stretch].end - 1];
    const bool leaves = last.guard == 0 && (last.flow == Flow::branch || last.flow == Flow::exit);
    if (!leaves && stretch + 1 < stretches_.size()) visit(stretch + 1);
    if (last.flow == Flow::branch) visit(stretch_at(last.target));
  }
  void number_registers();
  void find_wanted();
  void step_back(const Step& step, RegisterSet& wanted) const;
  std::size_t stretch_at(std::size_t first_step) const;

  const Kernel& kernel_;
  std::vector<RegisterMap::Register> registers_;
  std::vector<std::uint32_t> numbers_;  // by slot; all of them are multiples of a predicate's size
  std::vector<Stretch> stretches_;
};

}  // namespace cudal1::vgpu
