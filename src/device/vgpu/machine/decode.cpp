#include "device/vgpu/machine/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "device/vgpu/machine/decode_arithmetic.hpp"
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/instruction_class.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;
using ptx::PtxError;

constexpr std::array<const char*, static_cast<std::size_t>(Special::count)> special_names{
    "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x",   "%ntid.y",   "%ntid.z", "%ctaid.x",
    "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid"};

//! Words in an opcode that change nothing here: all accesses are in order, and caches hold no secrets.
const std::set<std::string, std::less<>> harmless{"weak", "relaxed", "acquire", "release", "acq_rel", "volatile",
                                                  "gpu",  "cta",     "sys",     "ca",      "cg",      "cs",
                                                  "cv",   "lu",      "wb",      "wt",      "nc"};

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables)
      : entry_(entry), global_variables_(variables) {
    kernel_.name = entry.name;
    kernel_.registers = std::make_unique<RegisterMap>(entry);
    kernel_.parameters = entry.parameters;
    place_parameters();
    for (const ptx::Variable& variable : module.variables) place_variable(variable);
    for (const ptx::Variable& variable : entry.variables) place_variable(variable);
  }

  Kernel run() {
    for (const ptx::Instruction& instruction : entry_.instructions) kernel_.steps.push_back(step_of(instruction));
    mark_spinning_loops();
    Step end;  // falling off the end is an exit
    end.flow = Flow::exit;
    end.pipe = Pipe::control;
    kernel_.steps.push_back(end);
    return std::move(kernel_);
  }

 private:
  //! Branches back over something that another thread may be waited for with.
  void mark_spinning_loops() {
    std::size_t last_signal = 0;  // counts from 1
    for (std::size_t i = 0; i < kernel_.steps.size(); ++i) {
      if (may_signal(entry_.instructions[i])) last_signal = i + 1;
      if (may_signal_other_blocks(entry_.instructions[i])) kernel_.blocks_may_meet = true;
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
      (variable.elements == 0 ? dynamic_shared_ : addresses_)[variable.name] = kernel_.static_shared_bytes;
      kernel_.static_shared_bytes += variable.bytes();
    } else if (variable.space == ptx::Space::local) {
      kernel_.local_bytes = round_up(kernel_.local_bytes, variable.alignment);
      addresses_[variable.name] = kernel_.local_bytes;
      kernel_.local_bytes += variable.bytes();
    } else if (const auto found = global_variables_.find(variable.name); found != global_variables_.end()) {
      addresses_[variable.name] = found->second;
    }
  }

  [[noreturn]] void fail(const std::string& message) const { throw PtxError(now_->at.ptx_line, message); }
  [[noreturn]] void unknown() const { fail(fmt::format("the instruction '{}' is not known", now_->full_opcode())); }

  const Operand& operand(std::size_t i) const {
    if (i >= now_->operands.size()) fail(fmt::format("'{}' has too few operands", now_->full_opcode()));
    return now_->operands[i];
  }

  // --- operands
  RegisterMap::Register register_of(const Operand& named) const {
    const auto found = kernel_.registers->find(named.name);
    if (named.kind != Operand::Kind::name || !found) fail(fmt::format("'{}' is no register", named.name));
    return *found;
  }

  std::optional<std::uint64_t> address_of(const std::string& name) const {
    if (const auto found = addresses_.find(name); found != addresses_.end()) return found->second;
    if (dynamic_shared_.contains(name)) return kernel_.static_shared_bytes;
    return std::nullopt;
  }

  //! A register, a number, or a special register, as 32 bits.
  Slot source32(const Operand& given) {
    if (given.kind == Operand::Kind::integer)
      return kernel_.registers->constant(given.bits & 0xffffffffu, Kind::bits32);
    if (const auto special = special_slot(given.name)) return *special;
    return register_of(given).slot;
  }

  std::optional<Slot> special_slot(const std::string& name) {
    const auto found = std::ranges::find(special_names, name);
    if (found == special_names.end()) return std::nullopt;
    Slot& slot = kernel_.special[static_cast<std::size_t>(found - special_names.begin())];
    if (slot == 0) slot = kernel_.registers->reserve(Kind::bits32);
    return slot;
  }

  // --- instructions
  Step step_of(const ptx::Instruction& instruction) {
    now_ = &instruction;
    Step step = body_of(instruction);
    step.at = instruction.at;
    step.pipe = pipe_of(instruction);
    step.tensor_products = tensor_products_of(instruction);
    if (instruction.guard) {
      const auto guard = kernel_.registers->find(instruction.guard->predicate);
      if (!guard || guard->kind != Kind::predicate) fail("a guard must be a predicate");
      step.guard = guard->slot;
      step.guard_negated = instruction.guard->negated;
    }
    return step;
  }

  Step body_of(const ptx::Instruction& instruction) {
    const std::string& op = instruction.opcode;
    if (op == "bra") return branch();
    if (op == "ret" || op == "exit") return of_flow(Flow::exit);
    if (op == "bar" || op == "barrier") return barrier();
    if (op == "ld") return load();
    if (op == "st") return store();
    if (op == "atom" || op == "red") return atomic(op == "red");
    if (op == "shfl") return shuffle();
    if (op == "vote") return vote();
    if (op == "cvta") return convert_address();
    if (op == "membar" || op == "fence") return of_effect(&fence);
    if (op == "mov") return move();
    return arithmetic(instruction);
  }

  static Step of_flow(Flow flow) {
    Step step;
    step.flow = flow;
    return step;
  }

  static Step of_effect(Effect effect) {
    Step step;
    step.flow = Flow::effect;
    step.effect = effect;
    return step;
  }

  Step arithmetic(const ptx::Instruction& instruction) {
    Step step;
    step.operation = decode_arithmetic(instruction, *kernel_.registers);
    return step;
  }

  Step branch() {
    Step step = of_flow(Flow::branch);
    const auto label = entry_.labels.find(operand(0).name);
    if (label == entry_.labels.end()) fail(fmt::format("there is no label '{}'", operand(0).name));
    step.target = static_cast<std::uint32_t>(label->second);
    return step;
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

  Slot register_with(const Operand& named, std::uint32_t bits) const {
    const auto found = register_of(named);
    if (bits_of(found.kind) != bits) fail(fmt::format("'{}' has not the right size", named.name));
    return found.slot;
  }

  //! A predicate, maybe negated: !%p1.
  void set_vote(Step& step, Slot& slot, const Operand& vote) const {
    slot = register_with(vote, 1);
    step.vote_negated = vote.negated;
  }

  //! mov of an address or a special register; all else only computes.
  Step move() {
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
  };

  Written access_as_written() const {
    static const std::map<std::string, AddressSpace, std::less<>> spaces{{"global", AddressSpace::global},
                                                                         {"shared", AddressSpace::shared},
                                                                         {"shared::cta", AddressSpace::shared},
                                                                         {"local", AddressSpace::local},
                                                                         {"const", AddressSpace::constant}};
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
    }
    if (written.access.type.empty()) unknown();
    return written;
  }

  void set_data(Step& step, Access& access, const Operand& registers) const {
    const std::vector<Operand> single{registers};
    const auto& all = registers.kind == Operand::Kind::list ? registers.elements : single;
    if (static_cast<int>(all.size()) != access.vector) fail("as many registers as elements are expected");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = register_of(all[i]);
      step.data[i] = found.slot;
      access.register_bits = bits_of(found.kind);
    }
  }

  void set_address(Step& step, const Operand& address) {
    if (address.kind != Operand::Kind::address) fail("an address is expected");
    const Operand& base = address.elements.at(0);
    step.offset = address.offset;
    if (base.kind == Operand::Kind::integer) {
      step.operation.operands[0] = kernel_.registers->constant(base.bits, Kind::bits64);
    } else if (const auto known = address_of(base.name)) {
      step.operation.operands[0] = kernel_.registers->constant(*known, Kind::bits64);
    } else {
      const auto found = register_of(base);
      if (found.kind != Kind::bits64) fail("an address has 64 bits");
      step.operation.operands[0] = found.slot;
    }
  }

  Step load() {
    Written written = access_as_written();
    if (written.parameter) return load_parameter(written.access);
    Step step;
    set_data(step, written.access, operand(0));
    set_address(step, operand(1));
    return finished(step, written.access.space, find_load(written.access));
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
    set_data(step, access, operand(0));
    step.operation.operands[0] = kernel_.registers->constant(parameter_window, Kind::bits64);
    step.offset = static_cast<std::int64_t>(parameter->second) + address.offset;
    return finished(step, access.space, find_load(access));
  }

  Step store() {
    Written written = access_as_written();
    if (written.parameter) fail("calls of functions are not known");
    Step step;
    set_address(step, operand(0));
    set_data(step, written.access, operand(1));
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
    return finished(step, space, find_atomic(operation, type));
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

  //! An effect that lanes have together with those in their member mask.
  static Step together(Step& step, Slot members) {
    step.flow = Flow::gather;
    step.members = members;
    return step;
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
        known ? kernel_.registers->constant(*known, Kind::bits64) : register_of(operand(1)).slot;
    step.operation.operands[1] = kernel_.registers->constant(static_cast<std::uint64_t>(window->second), Kind::bits64);
    return step;
  }

  const ptx::Function& entry_;
  const VariableAddresses& global_variables_;
  Kernel kernel_;
  std::map<std::string, std::uint64_t> addresses_, dynamic_shared_;
  std::map<std::tuple<Slot, Effect, AddressSpace>, std::uint32_t> patterns_;
  const ptx::Instruction* now_ = nullptr;
};

}  // namespace

Kernel decode(const ptx::Module& module, const ptx::Function& entry, const VariableAddresses& variables) {
  return Decoder(module, entry, variables).run();
}

}  // namespace cudal1::vgpu
