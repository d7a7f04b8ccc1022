#include "device/vgpu/machine/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "device/vgpu/machine/collectives.hpp"
#include "device/vgpu/machine/decode_arithmetic.hpp"
#include "device/vgpu/machine/decode_calls.hpp"
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/instruction_class.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/packed_registers.hpp"
#include "device/vgpu/machine/quick_steps.hpp"
#include "device/vgpu/machine/repeated_addresses.hpp"
#include "device/vgpu/machine/unwritten_registers.hpp"
#include "device/vgpu/machine/warp.hpp"
#include "device/vgpu/ptx/block_layout.hpp"
#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;
using ptx::PtxError;

//! Words in an opcode that change nothing here: all accesses are in order, and caches hold no secrets.
const std::set<std::string, std::less<>> harmless{"weak",
                                                  "relaxed",
                                                  "acquire",
                                                  "release",
                                                  "acq_rel",
                                                  "volatile",
                                                  "gpu",
                                                  "cta",
                                                  "sys",
                                                  "ca",
                                                  "cg",
                                                  "cs",
                                                  "cv",
                                                  "lu",
                                                  "wb",
                                                  "wt",
                                                  "nc",
                                                  "noftz",
                                                  "L1::evict_normal",
                                                  "L1::evict_unchanged",
                                                  "L1::evict_first",
                                                  "L1::evict_last",
                                                  "L1::no_allocate",
                                                  "L2::64B",
                                                  "L2::128B",
                                                  "L2::256B"};

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
        throw PtxError(0, fmt::format("'{}' calls itself and has local memory, which is not known", function.name));
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
    for (const ptx::Instruction& instruction : function.instructions) {
      firsts.push_back(kernel_.steps.size());
      now_ = &instruction;
      push(body_of(instruction));
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
      // Arrays without a size all begin where the sized ones end.
      kernel_.static_shared_bytes = round_up(kernel_.static_shared_bytes, variable.alignment);
      (variable.elements == 0 ? dynamic_shared_ : addresses_)[scope_ + variable.name] = kernel_.static_shared_bytes;
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

  // --- instructions
  Step body_of(const ptx::Instruction& instruction) {
    const std::string& op = instruction.opcode;
    if (op == "bra") return branch();
    if (op == "brx") return branch_by_table();
    if (op == "call") return call();
    if (op == "ret" && function_ != &entry_) return return_to_caller();
    if (op == "ret" || op == "exit") return of_flow(Flow::exit);
    if (op == "trap" || op == "brkpt") return of_effect(&stop);
    if (op == "bar" || op == "barrier") return barrier();
    if (op == "ld") return load();
    if (op == "st") return store();
    if (op == "atom" || op == "red") return atomic(op == "red");
    if (op == "shfl") return shuffle();
    if (op == "vote") return vote();
    if (op == "cvta") return convert_address();
    if (op == "membar" || op == "fence") return of_effect(&fence);
    if (op == "mov") return move();
    if (op == "isspacep") return is_space();
    if (op == "prefetch" || op == "prefetchu" || op == "discard" || op == "nanosleep") return nothing();
    if (const auto collective = decode_collective(*this)) return *collective;
    if (op == "cvt")
      if (const auto conversion = decode_wide_conversion(*this)) return *conversion;
    return arithmetic(instruction);
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

  // bar.sync a{, threads}; bar.arrive a, threads; bar.red.popc.u32 result, a{, threads}, {!}vote
  Step barrier() {
    std::vector<std::string> words = now_->modifiers;
    std::erase_if(words, [](const std::string& word) { return word == "cta" || word == "aligned"; });
    if (words == std::vector<std::string>{"warp", "sync"}) return warp_barrier();
    Step step = of_flow(Flow::barrier);
    step.barrier = barrier_use(words);
    const bool votes = step.barrier >= BarrierUse::count_votes, arrives = step.barrier == BarrierUse::arrive;
    const std::size_t first = votes ? 1 : 0, given = now_->operands.size(), least = votes ? 3 : arrives ? 2 : 1;
    if (given < least || given > (votes ? 4 : 2))
      fail(fmt::format("'{}' does not take {} operands", now_->full_opcode(), given));
    step.operation.operands[0] = source32(operand(first));
    if (arrives || given > least) step.operation.operands[1] = source32(operand(first + 1));
    step.barrier_is_fixed = step.barrier == BarrierUse::wait && given == 1 && operand(0).kind == Operand::Kind::integer;
    if (!votes) return step;
    step.operation.result = register_with(operand(0), step.barrier == BarrierUse::count_votes ? 32 : 1);
    set_vote(step, step.operation.operands[2], operand(given - 1));
    return step;
  }

  BarrierUse barrier_use(const std::vector<std::string>& words) const {
    static const std::map<std::vector<std::string>, BarrierUse> uses{{{"sync"}, BarrierUse::wait},
                                                                     {{"arrive"}, BarrierUse::arrive},
                                                                     {{"red", "popc", "u32"}, BarrierUse::count_votes},
                                                                     {{"red", "and", "pred"}, BarrierUse::all_votes},
                                                                     {{"red", "or", "pred"}, BarrierUse::any_vote}};
    const auto found = uses.find(words);
    if (found == uses.end()) unknown();
    return found->second;
  }

  Step warp_barrier() {
    Step step = of_flow(Flow::warp_barrier);
    step.members = source32(operand(0));
    return step;
  }

  //! A predicate, maybe negated: !%p1.
  void set_vote(Step& step, Slot& slot, const Operand& vote) const {
    slot = register_with(vote, 1);
    step.vote_negated = vote.negated;
  }

  //! mov of an address or a special register; all else only computes.
  Step move() {
    if (const auto special = decode_special_move(*this)) return *special;
    const Operand& from = operand(1);
    ptx::Instruction plain = *now_;
    if (from.kind == Operand::Kind::name) {
      if (const auto special = special_slot(from.name)) return move_special(*special);
      if (const auto address = address_of(from.name)) {
        plain.operands[1] = {};
        plain.operands[1].kind = Operand::Kind::integer;
        plain.operands[1].bits = *address + static_cast<std::uint64_t>(from.offset);
      }
    }
    return arithmetic(plain);
  }

  Step move_special(Slot special) {
    const ArithmeticOpcode* copy = find_arithmetic("mov.b32");
    Step step;
    step.operation.run = copy->run;
    step.operation.result = register_of(operand(0)).slot;
    step.operation.operands[0] = special;
    return step;
  }

  // --- memory
  struct Written {
    Access access;
    bool parameter = false;
    bool strong = false;
  };

  Written access_as_written() const {
    static const std::map<std::string, AddressSpace, std::less<>> spaces{{"global", AddressSpace::global},
                                                                         {"shared", AddressSpace::shared},
                                                                         {"shared::cta", AddressSpace::shared},
                                                                         {"local", AddressSpace::local},
                                                                         {"const", AddressSpace::constant}};
    static const std::set<std::string, std::less<>> strong{"volatile", "relaxed", "acquire", "release"};
    Written written;
    for (const std::string& word : now_->modifiers) {
      if (const auto space = spaces.find(word); space != spaces.end())
        written.access.space = space->second;
      else if (word == "param")
        written.parameter = true;
      else if (word == "v2" || word == "v4")
        written.access.vector = word == "v2" ? 2 : 4;
      else if (ptx::bytes_of_type(word) > 0 && word != "pred")
        written.access.type = word;
      else if (!harmless.contains(word))
        unknown();
      written.strong |= strong.contains(word);
    }
    if (written.access.type.empty()) unknown();
    return written;
  }

  //! Registers, of one size; what is stored may also be a number.
  void set_data(Step& step, Access& access, const Operand& given) {
    const std::vector<Operand> single{given};
    const auto& all = given.kind == Operand::Kind::list ? given.elements : single;
    if (static_cast<int>(all.size()) != access.vector) fail("as many registers as elements are expected");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool number = all[i].kind == Operand::Kind::integer || all[i].kind == Operand::Kind::floating;
      if (number && now_->opcode != "st") fail("a register is expected");
      const auto bits =
          number ? bits_of(kind_of_register(access.type, now_->at.ptx_line)) : bits_of(register_of(all[i]).kind);
      step.data[i] = value_of(all[i], access.type);
      if (i > 0 && bits != access.register_bits) fail("registers of one size are expected");
      access.register_bits = bits;
    }
  }

  Step load() {
    Written written = access_as_written();
    if (written.parameter && !is_passed(operand(1))) return load_parameter(written.access);
    if (written.parameter) written.access.space = AddressSpace::local;
    Step step;
    step.loads = true;
    step.strong = written.strong;
    set_data(step, written.access, operand(0));
    set_address(step, operand(1));
    return finished(step, written.access.space, find_load(written.access));
  }

  //! A parameter of a function or of a call, not one of the kernel's.
  bool is_passed(const Operand& address) const {
    return address.kind == Operand::Kind::address && address_of(address.elements.at(0).name).has_value();
  }

  //! Parameters lie in memory of their own, which all threads read alike: global memory, at addresses of our choice.
  Step load_parameter(Access access) {
    const Operand& address = operand(1);
    if (address.kind != Operand::Kind::address) fail("an address is expected");
    const auto parameter = kernel_.parameter_offsets.find(address.elements.at(0).name);
    if (parameter == kernel_.parameter_offsets.end())
      fail(fmt::format("'{}' is no parameter of the kernel", address.elements[0].name));
    access.space = AddressSpace::constant;
    Step step;
    step.loads = true;
    set_data(step, access, operand(0));
    step.operation.operands[0] = kernel_.registers->constant(parameter_window, Kind::bits64);
    step.offset = static_cast<std::int64_t>(parameter->second) + address.offset;
    if (is_whole_register(access, step.offset)) return copy_parameter_from_register(access, step);
    return finished(step, access.space, find_load(access));
  }

  bool is_whole_register(const Access& access, std::int64_t offset) const {
    const std::uint64_t bytes = ptx::bytes_of_type(access.type), bits = 8 * bytes;
    return access.vector == 1 && bits == access.register_bits && bits >= 32 && offset >= 0 &&
           static_cast<std::uint64_t>(offset) + bytes <= kernel_.parameter_bytes &&
           static_cast<std::uint64_t>(offset) % bytes == 0;
  }

  //! Parameters are the same in every lane and block, so a warp puts them into registers once.
  Step copy_parameter_from_register(const Access& access, const Step& load) {
    const bool wide = access.register_bits == 64;
    const auto offset = static_cast<std::uint64_t>(load.offset);
    auto known = std::ranges::find_if(kernel_.parameter_slots, [&](const ParameterSlot& one) {
      return one.offset == offset && one.bytes * 8 == access.register_bits;
    });
    if (known == kernel_.parameter_slots.end()) {
      const Slot slot = kernel_.registers->reserve(wide ? Kind::bits64 : Kind::bits32);
      kernel_.parameter_slots.push_back({slot, offset, wide ? 8u : 4u});
      known = std::prev(kernel_.parameter_slots.end());
    }
    return computing(wide ? "mov.b64" : "mov.b32", load.data[0], {known->slot});
  }

  Step store() {
    Written written = access_as_written();
    if (written.parameter && !is_passed(operand(0))) fail("a kernel's parameters are only read");
    if (written.parameter) written.access.space = AddressSpace::local;
    Step step;
    step.strong = written.strong;
    set_address(step, operand(0));
    set_data(step, written.access, operand(1));
    step.stores_word = written.access.vector == 1 && written.access.register_bits <= 32;
    return finished(step, written.access.space, find_store(written.access));
  }

  //! Accesses of the same kind through the same register share a pattern: only their offsets differ.
  Step finished(Step& step, AddressSpace space, Effect effect) {
    if (!effect) unknown();
    step.flow = Flow::effect;
    step.effect = effect;
    step.space = space;
    const auto [found, added] =
        patterns_.emplace(std::tuple(step.operation.operands[0], effect, space), kernel_.patterns);
    if (added) ++kernel_.patterns;
    step.pattern = found->second;
    return step;
  }

  //! atom.global.add.f32 result, [address], a, b; red has no result.
  Step atomic(bool without_result) {
    static const std::set<std::string, std::less<>> operations{"add", "min", "max", "inc", "dec",
                                                               "and", "or",  "xor", "cas", "exch"};
    AddressSpace space = AddressSpace::generic;
    std::string operation, type;
    for (const std::string& word : now_->modifiers) {
      if (word == "global")
        space = AddressSpace::global;
      else if (word == "shared" || word == "shared::cta")
        space = AddressSpace::shared;
      else if (operations.contains(word))
        operation = word;
      else if (ptx::bytes_of_type(word) > 0)
        type = word;
      else if (!harmless.contains(word))
        unknown();
    }
    Step step;
    const std::size_t first = without_result ? 0 : 1;
    if (!without_result) step.operation.result = register_of(operand(0)).slot;
    set_address(step, operand(first));
    for (std::size_t i = first + 1; i < now_->operands.size(); ++i)
      step.operation.operands.at(i - first) = value_of(now_->operands[i], type);
    return finished(step, space, small_or_other_atomic(operation, type));
  }

  static Effect small_or_other_atomic(const std::string& operation, const std::string& type) {
    const Effect small = find_small_atomic(operation, type);
    return small ? small : find_atomic(operation, type);
  }

  Slot value_of(const Operand& given, const std::string& type) {
    if (given.kind == Operand::Kind::name) return register_of(given).slot;
    const Kind kind = kind_of_register(type, now_->at.ptx_line);
    if (given.kind == Operand::Kind::floating && !given.single && kind == Kind::real32)
      fail("a number of 32 bits is expected");
    return kernel_.registers->constant(given.bits, kind);
  }

  // --- across lanes
  Step shuffle() {
    if (now_->modifiers.size() != 3 || now_->modifiers[0] != "sync" || now_->modifiers[2] != "b32") unknown();
    Step step = of_effect(find_shuffle(now_->modifiers[1]));
    if (!step.effect) unknown();
    const bool two_results = now_->operands.size() == 6;
    if (now_->operands.size() != 5 && !two_results) fail("a shuffle has five operands");
    step.operation.result = register_of(operand(0)).slot;
    if (two_results) step.operation.second_result = register_of(operand(1)).slot;
    for (std::size_t i = 0; i < 4; ++i) step.operation.operands[i] = source32(operand(i + (two_results ? 2 : 1)));
    const Operand &count = operand(two_results ? 3 : 2), &control = operand(two_results ? 4 : 3);
    if (count.kind == Operand::Kind::integer && control.kind == Operand::Kind::integer) {
      kernel_.shuffles.push_back(fixed_shuffle(now_->modifiers[1], static_cast<std::int32_t>(count.bits),
                                               static_cast<std::int32_t>(control.bits)));
      step.target = static_cast<std::uint32_t>(kernel_.shuffles.size());
    }
    return together(step, step.operation.operands[3]);
  }

  Step vote() {
    if (now_->modifiers.size() != 3 || now_->modifiers[0] != "sync") unknown();
    Step step = of_effect(find_vote(now_->modifiers[1]));
    if (!step.effect) unknown();
    step.operation.result = register_of(operand(0)).slot;
    set_vote(step, step.operation.operands[0], operand(1));
    return together(step, source32(operand(2)));
  }

  //! Between generic addresses and those of a space: shared and local memory have windows, global memory is the rest.
  Step convert_address() {
    static const std::map<std::string, std::int64_t, std::less<>> windows{
        {"cvta.global.u64", 0},
        {"cvta.to.global.u64", 0},
        {"cvta.const.u64", 0},
        {"cvta.to.const.u64", 0},
        {"cvta.shared.u64", static_cast<std::int64_t>(shared_window)},
        {"cvta.to.shared.u64", -static_cast<std::int64_t>(shared_window)},
        {"cvta.local.u64", static_cast<std::int64_t>(local_window)},
        {"cvta.to.local.u64", -static_cast<std::int64_t>(local_window)}};
    const auto window = windows.find(now_->full_opcode());
    if (window == windows.end()) unknown();
    const ArithmeticOpcode* add = find_arithmetic("add.s64");
    Step step;
    step.operation.run = add->run;
    step.operation.result = register_of(operand(0)).slot;
    const auto known = address_of(operand(1).name);
    step.operation.operands[0] =
        known ? kernel_.registers->constant(*known + static_cast<std::uint64_t>(operand(1).offset), Kind::bits64)
              : register_with(operand(1), 64);
    step.operation.operands[1] = kernel_.registers->constant(static_cast<std::uint64_t>(window->second), Kind::bits64);
    return step;
  }

  //! Constant memory lies among global memory, and parameters beyond it.
  Step is_space() {
    const Slot address = register_with(operand(1), 64), result = register_with(operand(0), 1);
    const auto limit = [&](std::uint64_t bits) { return kernel_.registers->constant(bits, Kind::bits64); };
    const Slot always = kernel_.registers->constant(1, Kind::predicate);
    if (has("shared")) return computing("setp.ge.u64", result, {address, limit(shared_window)});
    if (has("global")) return computing("setp.lt.u64", result, {address, limit(parameter_window)});
    if (has("const")) return computing("not.pred", result, {always});
    if (!has("local")) unknown();
    push(computing("setp.ge.u64", result, {address, limit(local_window)}));
    const Slot copy = kernel_.registers->reserve(Kind::predicate);
    push(computing("mov.pred", copy, {result}));
    return computing("setp.lt.and.u64", result, {address, limit(shared_window), copy});
  }

  const VariableAddresses& global_variables_;
  std::map<std::tuple<Slot, Effect, AddressSpace>, std::uint32_t> patterns_;
};

}  // namespace

Kernel decode(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables) {
  const ptx::Module ordered = laid_out(module);
  const ptx::Function* found = ordered.find(entry.name);
  return Decoder(ordered, found ? *found : entry, variables).run();
}

}  // namespace cudal1::vgpu
