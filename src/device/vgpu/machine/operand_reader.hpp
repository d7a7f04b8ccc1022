// The operands of the instruction that is being decoded, as slots and addresses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

class OperandReader {
 public:
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unknown() const;

  const ptx::Instruction& instruction() const { return *now_; }
  //! As written: mma.sync.aligned has "sync" and "aligned".
  bool has(const std::string& modifier) const;
  const ptx::Operand& operand(std::size_t i) const;
  void expect_operands(std::size_t count) const;

  RegisterMap::Register register_of(const ptx::Operand& named) const;
  Slot register_with(const ptx::Operand& named, std::uint32_t bits) const;
  //! Of {a, b} or of a single one.
  std::vector<Slot> registers_with(const ptx::Operand& given, std::uint32_t bits) const;
  //! A register, a number, or a special register, as 32 bits.
  Slot source32(const ptx::Operand& given);
  std::optional<Slot> special_slot(const std::string& name);
  //! Of a variable: in this function, else in the module.
  std::optional<std::uint64_t> address_of(const std::string& name) const;
  //! Operand 0 and the offset of a memory access: [%rd1+4], [table], [16].
  void set_address(Step& step, const ptx::Operand& address);
  //! Its slot alone.
  Slot address_slot(const ptx::Operand& address);

  //! A predicate, maybe negated: !%p1.
  void set_vote(Step& step, Slot& slot, const ptx::Operand& vote) const;

  //! One more step, which the instruction's guard guards.
  void push(Step step);
  //! Without its guard.
  void push_always(Step step);
  //! An instruction that only computes, on these slots.
  static Step computing(const std::string& opcode, Slot result, const std::vector<Slot>& operands);
  static Step of_flow(Flow flow);
  static Step of_effect(Effect effect);
  //! An effect that lanes have together with those in their member mask.
  static Step together(Step step, Slot members);

  Kernel& kernel() { return kernel_; }
  const Kernel& kernel() const { return kernel_; }

 protected:
  Kernel kernel_;
  std::map<std::string, std::uint64_t> addresses_, dynamic_shared_;
  std::string scope_;  // of names: empty in the kernel itself, else the function's
  const ptx::Instruction* now_ = nullptr;
  std::vector<const ptx::Instruction*> owners_;  // of each step
};

//! What lanes do together, and asynchronous copies; nothing for all other instructions. Throws PtxError.
std::optional<Step> decode_collective(OperandReader& reader);

//! bar and barrier; nothing for all other instructions. Throws PtxError.
std::optional<Step> decode_barrier(OperandReader& reader);

//! cvta and isspacep; nothing for all other instructions. All steps but the last are pushed. Throws PtxError.
std::optional<Step> decode_address(OperandReader& reader);

//! mov between a register and {several}, of addresses, and from registers that hold what the machine knows; nothing for
//! other moves. Where one step does not do it, all but the last are pushed.
std::optional<Step> decode_special_move(OperandReader& reader);

//! cvt from or to registers that are wider than its types; nothing for others. All steps but the last are pushed.
std::optional<Step> decode_wide_conversion(OperandReader& reader);

}  // namespace cudal1::vgpu
