// The functions of a kernel: jumps within them, calls between them.
//
// A call copies the callee's parameters in local memory, a register says where to return to, and two branches do the
// rest. A function that calls itself keeps what the outer activation had on a stack.
#pragma once

#include <map>
#include <vector>

#include "device/vgpu/machine/call_plan.hpp"
#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class CallDecoder : public OperandReader {
 protected:
  CallDecoder(const ptx::Module& module, const ptx::Function& entry)
      : entry_(entry), calls_(plan_calls(module, entry)) {}

  //! A prefix for names in this function.
  std::string scope_of(const ptx::Function& function) const;

  //! The step that is pushed next goes there.
  void jump_to(const ptx::Function& function, std::size_t instruction);
  //! Goes on with a branch where the value is the wanted one; where it leads is decided by whoever pushes it.
  Step branch_where(Slot value, std::uint32_t wanted);
  //! Of all jumps, calls and returns, once every function is decoded.
  void set_targets();

  Step call();
  Step return_to_caller();
  static Step nothing();

  const ptx::Function& entry_;
  CallPlan calls_;
  const ptx::Function* function_ = nullptr;                               // that is being decoded
  std::map<const ptx::Function*, std::vector<std::size_t>> first_steps_;  // of each instruction
  std::map<const ptx::Function*, Frame> frames_;
  std::map<const ptx::Function*, Slot> return_sites_;  // registers that hold the number of a call

 private:
  struct Jump {
    std::size_t step;
    const ptx::Function* function;
    std::size_t instruction;
  };
  enum class Passing { in, out, through_stack_in, through_stack_out };

  Step compare_with(Slot predicate, Slot value, std::uint32_t wanted);
  Step call_system(const CallOperands& operands);
  std::uint64_t passed_at(const ptx::Operand* list, std::size_t index) const;
  std::uint64_t transfer_area(const ptx::Function& callee);
  void pass(const ptx::Operand* given, const ptx::Function& callee, const std::vector<ptx::Variable>& formals,
            Passing passing);
  void push_all(const std::vector<Step>& steps);
  Step frame_step(const ptx::Function& callee, Effect effect);

  std::vector<Jump> jumps_;
  std::map<const ptx::Function*, std::uint64_t> transfer_areas_;
  std::map<std::uint32_t, std::uint32_t> behind_call_;          // where a call goes on
  std::vector<std::pair<std::size_t, std::uint32_t>> returns_;  // steps that go back to a call
};

}  // namespace cudal1::vgpu
