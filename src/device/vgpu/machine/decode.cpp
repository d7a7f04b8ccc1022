#include "device/vgpu/machine/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/readable_name.hpp"
#include "device/vgpu/machine/decode_arithmetic.hpp"
#include "device/vgpu/machine/decode_calls.hpp"
#include "device/vgpu/machine/decode_memory.hpp"
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/guessing_loads.hpp"
#include "device/vgpu/machine/instruction_class.hpp"
#include "device/vgpu/machine/packed_registers.hpp"
#include "device/vgpu/machine/quick_steps.hpp"
#include "device/vgpu/machine/repeated_addresses.hpp"
#include "device/vgpu/machine/shared_origins.hpp"
#include "device/vgpu/machine/unwritten_registers.hpp"
#include "device/vgpu/machine/warp.hpp"
#include "device/vgpu/ptx/block_layout.hpp"
#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;
using ptx::PtxError;

class Decoder : private CallDecoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables)
      : CallDecoder(module, entry), global_variables_(variables) {
    kernel_.name = entry.name;
    kernel_.registers = std::make_unique<RegisterMap>(entry);
    kernel_.parameters = entry.parameters;
    place_parameters();
    for (const ptx::Variable& variable : module.variables) place_variable(variable);
    for (const ptx::Function* function : calls_.order) declare(*function);
  }

  Kernel run() {
    name_shared_arrays();
    if (calls_.order.size() > 1) start_at_entry();
    for (const ptx::Function* function : calls_.order) decode_function(*function);
    set_targets();
    mark_spinning_loops();
    mark_repeated_addresses(kernel_);
    place_registers();
    mark_quick_steps(kernel_);
    return std::move(kernel_);
  }

 private:
  // --- functions
  //! Gives the function's registers and variables their places.
  void declare(const ptx::Function& function) {
    scope_ = scope_of(function);
    Frame& frame = frames_[&function];
    frame.local_begin = kernel_.local_bytes = round_up(kernel_.local_bytes, 16);
    if (&function != &entry_) {
      kernel_.registers->declare(function, scope_);
      for (const ptx::Variable& variable : function.parameters) place_variable(variable);
      for (const ptx::Variable& variable : function.results) place_variable(variable);
      return_sites_[&function] = kernel_.registers->reserve(Kind::bits32);
    }
    for (const ptx::Variable& variable : function.variables) {
      // Each of its activations would have to have its own, at another address.
      if (calls_.recursive.contains(&function) && variable.space == ptx::Space::local)
        throw PtxError(
            function.instructions.empty() ? 0 : function.instructions.front().at.ptx_line,
            fmt::format("'{}' calls itself and has local memory, which is not known", readable_name(function.name)));
      place_variable(variable);
    }
    frame.local_bytes = kernel_.local_bytes - frame.local_begin;
    scope_.clear();
  }

  void start_at_entry() {
    static const ptx::Instruction nowhere{"bra", {}, std::nullopt, {}, {}};
    now_ = &nowhere;
    jump_to(entry_, 0);
    push_always(of_flow(Flow::branch));
  }

  void decode_function(const ptx::Function& function) {
    function_ = &function;
    scope_ = scope_of(function);
    kernel_.registers->use_scope(scope_);
    std::vector<std::size_t>& firsts = first_steps_[&function];
    const auto guesses = guessing_loads(function);
    const auto origins = origins_in(function);
    for (const ptx::Instruction& instruction : function.instructions) {
      firsts.push_back(kernel_.steps.size());
      now_ = &instruction;
      push(body_of(instruction));
      kernel_.steps.back().guesses = guesses.contains(&instruction);
      kernel_.steps.back().array = array_of(instruction, origins);
    }
    firsts.push_back(kernel_.steps.size());
    static const ptx::Instruction end{"exit", {}, std::nullopt, {}, {}};  // falling off the end is an exit
    now_ = &end;
    push_always(of_flow(Flow::exit));
    estimate_machine_code(function, firsts);
  }

  //! What the timing model wants to know of an instruction goes to the first of its steps.
  void estimate_machine_code(const ptx::Function& function, const std::vector<std::size_t>& firsts) {
    MachineCode code = machine_code(function);
    kernel_.code.work.resize(kernel_.steps.size());
    kernel_.code.waits.resize(kernel_.steps.size());
    for (std::size_t i = 0; i < code.work.size(); ++i) {
      kernel_.code.work[firsts[i]] = code.work[i];
      kernel_.code.waits[firsts[i]] = code.waits[i];
    }
    const auto to_step = [&](std::size_t& instruction) { instruction = firsts[instruction]; };
    for (UnrolledLoop& loop : code.loops) {
      to_step(loop.first);
      std::ranges::for_each(loop.entered_from, to_step);
      std::ranges::for_each(loop.instructions, to_step);
      kernel_.code.loops.push_back(std::move(loop));
    }
  }

  void place_registers() {
    const Liveness liveness(kernel_);
    kernel_.read_unwritten = registers_read_unwritten(kernel_, liveness);
    if (!calls_.any) pack_registers(kernel_, liveness);
  }

  //! Branches back over something that another thread may be waited for with.
  void mark_spinning_loops() {
    std::size_t last_signal = 0;  // counts from 1
    for (std::size_t i = 0; i < kernel_.steps.size(); ++i) {
      if (may_signal(*owners_[i])) last_signal = i + 1;
      if (may_signal_other_blocks(*owners_[i])) kernel_.blocks_may_meet = true;
      Step& step = kernel_.steps[i];
      step.spins = step.flow == Flow::branch && step.target <= i && last_signal > step.target;
    }
  }

  void place_parameters() {
    for (const ptx::Variable& parameter : entry_.parameters) {
      kernel_.parameter_bytes = round_up(kernel_.parameter_bytes, parameter.alignment);
      kernel_.parameter_offsets[parameter.name] = kernel_.parameter_bytes;
      kernel_.parameter_bytes += parameter.bytes();
    }
  }

  void place_variable(const ptx::Variable& variable) {
    if (variable.space == ptx::Space::shared) {
      // Arrays without a size all begin where the sized ones end, at a place that fits each of them.
      if (variable.elements == 0) dynamic_alignment_ = std::max<std::uint64_t>(dynamic_alignment_, variable.alignment);
      kernel_.static_shared_bytes = round_up(kernel_.static_shared_bytes, variable.alignment);
      (variable.elements == 0 ? dynamic_shared_ : addresses_)[scope_ + variable.name] = kernel_.static_shared_bytes;
      shared_arrays_.push_back({&variable, scope_ + variable.name, kernel_.static_shared_bytes});
      kernel_.static_shared_bytes += variable.bytes();
    } else if (variable.space == ptx::Space::local || variable.space == ptx::Space::param) {
      // What functions are called with, and what they return, lies in local memory.
      kernel_.local_bytes = round_up(kernel_.local_bytes, variable.alignment);
      addresses_[scope_ + variable.name] = kernel_.local_bytes;
      kernel_.local_bytes += variable.bytes();
    } else if (const auto found = global_variables_.find(variable.name); found != global_variables_.end()) {
      addresses_[variable.name] = found->second;
    }
  }

  //! Those without a size are the module's: other kernels may call the same memory something else.
  void name_shared_arrays() {
    std::uint16_t number = 0;
    kernel_.static_shared_bytes = round_up(kernel_.static_shared_bytes, dynamic_alignment_);
    for (const auto& [array, key, begin] : shared_arrays_)
      if (array->elements > 0) {
        kernel_.shared_arrays.add(array->name, begin, array->bytes());
        array_numbers_[key] = ++number;
      }
    for (const auto& [array, key, begin] : shared_arrays_)
      if (array->elements == 0 && is_named(array->name)) {
        kernel_.shared_arrays.add_dynamic(array->name, kernel_.static_shared_bytes);
        array_numbers_[key] = static_cast<std::uint16_t>(number + 1);
      }
  }

  //! Of bounds of shared_arrays; 0: it is none.
  std::uint16_t number_of_array(const std::string& name) const {
    for (const std::string& known : {scope_ + name, name})
      if (const auto found = array_numbers_.find(known); found != array_numbers_.end()) return found->second;
    return 0;
  }

  std::map<std::string, std::string> origins_in(const ptx::Function& function) const {
    if (array_numbers_.empty()) return {};
    return shared_origins(function, [&](const std::string& name) { return number_of_array(name) != 0; });
  }

  //! The array that the instruction's address was made from; 0: unknown.
  std::uint16_t array_of(const ptx::Instruction& instruction, const std::map<std::string, std::string>& origins) const {
    const auto address = std::ranges::find(instruction.operands, Operand::Kind::address, &Operand::kind);
    if (address == instruction.operands.end()) return 0;
    const std::string& base = address->elements.at(0).name;
    const auto origin = origins.find(base);
    return number_of_array(origin == origins.end() ? base : origin->second);
  }

  bool is_named(const std::string& symbol) const {
    const auto in = [&](const ptx::Instruction& instruction) { return names(instruction.operands, symbol); };
    return std::ranges::any_of(
        calls_.order, [&](const ptx::Function* function) { return std::ranges::any_of(function->instructions, in); });
  }

  static bool names(const std::vector<Operand>& operands, const std::string& symbol) {
    return std::ranges::any_of(
        operands, [&](const Operand& operand) { return operand.name == symbol || names(operand.elements, symbol); });
  }

  // --- instructions
  Step body_of(const ptx::Instruction& instruction) {
    const std::string& op = instruction.opcode;
    if (op == "bra") return branch();
    if (op == "brx") return branch_by_table();
    if (op == "call") return call();
    if (op == "ret" && function_ != &entry_) return return_to_caller();
    if (op == "ret" || op == "exit") return of_flow(Flow::exit);
    if (op == "trap" || op == "brkpt") return of_effect(&stop);
    if (op == "ld") return memory_.load();
    if (op == "st") return memory_.store();
    if (op == "atom" || op == "red") return memory_.atomic();
    if (op == "membar" || op == "fence") return of_effect(&fence);
    if (op == "prefetch" || op == "prefetchu" || op == "discard" || op == "nanosleep") return nothing();
    if (const auto topical = decode_by_topic(op)) return *topical;
    return arithmetic(instruction);
  }

  std::optional<Step> decode_by_topic(const std::string& op) {
    if (op == "mov") return decode_special_move(*this);
    if (op == "cvt") return decode_wide_conversion(*this);
    if (const auto barrier = decode_barrier(*this)) return barrier;
    if (const auto address = decode_address(*this)) return address;
    return decode_collective(*this);
  }

  static void stop(Warp& warp, const Step& step, Mask mask) {
    warp.fail(FaultKind::trap, "the program stops itself", std::countr_zero(mask), step);
  }

  Step arithmetic(const ptx::Instruction& instruction) {
    Step step;
    step.operation = decode_arithmetic(instruction, *kernel_.registers);
    if (divides_by_a_variable(instruction)) {
      step.effect = find_checked_division(instruction.modifiers.back());
      if (step.effect) step.flow = Flow::effect;
    }
    return step;
  }

  static bool divides_by_a_variable(const ptx::Instruction& instruction) {
    if (instruction.opcode != "div" && instruction.opcode != "rem") return false;
    const Operand& divisor = instruction.operands.back();
    return divisor.kind != Operand::Kind::integer || divisor.bits == 0;
  }

  Step branch() {
    jump_to(*function_, labelled(operand(0).name));
    return of_flow(Flow::branch);
  }

  std::size_t labelled(const std::string& name) const {
    const auto label = function_->labels.find(name);
    if (label == function_->labels.end()) fail(fmt::format("there is no label '{}'", name));
    return label->second;
  }

  //! brx.idx index, table: a comparison and a branch for each entry.
  Step branch_by_table() {
    if (now_->modifiers.empty() || now_->modifiers[0] != "idx") unknown();
    const auto table = function_->branch_targets.find(operand(1).name);
    if (table == function_->branch_targets.end()) fail(fmt::format("there is no table '{}'", operand(1).name));
    const Slot index = register_with(operand(0), 32);
    for (std::uint32_t i = 0; i < table->second.size(); ++i) {
      const Step step = branch_where(index, i);
      jump_to(*function_, labelled(table->second[i]));
      push_always(step);
    }
    return of_effect([](Warp& warp, const Step& step, Mask mask) {
      warp.fail(FaultKind::out_of_bounds, "a branch table has no entry for its index", std::countr_zero(mask), step);
    });
  }

  const VariableAddresses& global_variables_;
  struct DeclaredArray {
    const ptx::Variable* variable;
    std::string key;  // with its scope
    std::uint64_t begin;
  };
  std::vector<DeclaredArray> shared_arrays_;
  std::uint64_t dynamic_alignment_ = 1;  //!< of arrays without a size
  std::map<std::string, std::uint16_t> array_numbers_;
  MemoryDecoder memory_{*this};
};

}  // namespace

Kernel decode(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables) {
  const ptx::Module ordered = laid_out(module);
  const ptx::Function* found = ordered.find(entry.name);
  return Decoder(ordered, found ? *found : entry, variables).run();
}

}  // namespace cudal1::vgpu
