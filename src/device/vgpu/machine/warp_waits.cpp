#include "device/vgpu/machine/warp_waits.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "device/vgpu/machine/region_schedule.hpp"
#include "device/vgpu/ptx/live_registers.hpp"

namespace cudal1::vgpu {
namespace {

//! What results come from.
enum class Source : std::uint8_t { pipes, shared, global };

// From issue to use, in clocks: microbenchmarks of Hopper (arXiv:2402.13499), rounded.
constexpr double arithmetic_clocks = 4, special_clocks = 18, conversion_clocks = 10, twofold_clocks = 8,
                 tensor_clocks = 33;

// An assembler would rather wait than take more registers than leave a multiprocessor full.
constexpr std::uint32_t full_registers = 32;

bool is_shared(const ptx::Instruction& instruction) {
  return has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
}

bool is_operand(const ptx::Instruction& instruction) {
  return instruction.opcode == "ld" && has_modifier(instruction, "param");
}

bool is_async_copy(const ptx::Instruction& instruction) {
  return instruction.opcode == "cp" && has_modifier(instruction, "global");
}

Source source_of(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "shfl" || opcode == "ldmatrix" || opcode == "redux" || opcode == "match") return Source::shared;
  if (opcode != "ld" && opcode != "atom" && !is_async_copy(instruction)) return Source::pipes;
  if (is_operand(instruction)) return Source::pipes;
  const bool near = is_shared(instruction) || has_modifier(instruction, "const") || has_modifier(instruction, "local");
  return near ? Source::shared : Source::global;
}

//! Short programs, divisions above all, are mostly chains.
double pipe_clocks(const MachineWork& work) {
  const auto of = [&](Pipe pipe) { return static_cast<double>(work[static_cast<std::size_t>(pipe)]); };
  const double plain =
      of(Pipe::single) + of(Pipe::integer) + of(Pipe::half) + of(Pipe::memory) + of(Pipe::either) + of(Pipe::multiply);
  return plain * arithmetic_clocks + of(Pipe::special) * special_clocks + of(Pipe::conversion) * conversion_clocks +
         of(Pipe::twofold) * twofold_clocks + of(Pipe::tensor) * tensor_clocks;
}

double latency_of(const ptx::Instruction& instruction, const MachineWork& work) {
  if (is_async_copy(instruction)) return 0;
  switch (source_of(instruction)) {
    case Source::shared:
      return assumed_shared_clocks;
    case Source::global:
      return assumed_global_clocks;
    case Source::pipes:
      return pipe_clocks(work);
  }
  return 0;
}

MemoryOrder order_of(const ptx::Instruction& instruction) {
  static const std::set<std::string> barriers{"bar", "barrier", "membar", "fence", "call"};
  const std::string& opcode = instruction.opcode;
  if (barriers.contains(opcode)) return MemoryOrder::barrier;
  if (opcode == "cp") return is_async_copy(instruction) ? MemoryOrder::load : MemoryOrder::barrier;
  if (opcode == "st" || opcode == "red" || opcode == "atom") return MemoryOrder::store;
  if (opcode == "ldmatrix") return MemoryOrder::load;
  if (opcode != "ld" || is_operand(instruction)) return MemoryOrder::none;
  return has_modifier(instruction, "nc") || has_modifier(instruction, "const") ? MemoryOrder::constant_load
                                                                               : MemoryOrder::load;
}

//! Divisions and roots that are rounded exactly branch to a slow path, and nothing is moved across a branch.
bool is_call(const ptx::Instruction& instruction, const MachineWork& work) {
  return source_of(instruction) == Source::pipes && pipe_clocks(work) > 0 &&
         work[static_cast<std::size_t>(Pipe::control)] > 0;
}

//! Machine instructions that are issued for it.
double slots_of(const MachineWork& work) { return std::accumulate(work.begin(), work.end(), 0.0); }

//! A result: when it can be used, and where it comes from.
struct Value {
  double clock = 0;
  Source source = Source::pipes;
};

struct OnTheirWay {
  std::vector<Value> registers;
  std::deque<double> copies;  //!< groups of cp.async
  double copy = 0;            //!< of the group that is not committed

  void shift(double clocks) {
    for (Value& value : registers) value.clock -= clocks;
    for (double& group : copies) group -= clocks;
    copy -= clocks;
  }
};

class Simulation {
 public:
  Simulation(const ptx::Function& function, const FunctionFlow& flow, const std::vector<MachineWork>& work)
      : function_(function),
        flow_(flow),
        registers_(std::max(most_live_words(function, flow), full_registers)),
        waits_(function.instructions.size()) {
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      const ptx::Instruction& instruction = function.instructions[i];
      const bool shared = is_shared(instruction) || instruction.opcode == "ldmatrix";
      timing_.push_back({slots_of(work[i]), latency_of(instruction, work[i]), order_of(instruction), shared,
                         is_call(instruction, work[i])});
    }
    now_.registers.resize(flow_.words.size());
    for (std::size_t i = 0; i < flow_.order.size(); ++i) position_[flow_.order[i]] = i;
  }

  //! All regions in turn, until loops begin with what they leave behind.
  std::vector<WarpWaits> run() {
    const std::vector<RegionSchedule> regions = schedules();
    constexpr int turns = 3;
    for (int turn = 0; turn < turns; ++turn) {
      now_ = {};
      now_.registers.resize(flow_.words.size());
      for (const RegionSchedule& region : regions) run_in_turn(region);
    }
    return std::move(waits_);
  }

  //! Of a loop without others inside, so many turns at a time: what each of its instructions waits, for one turn.
  std::vector<WarpWaits> run_turns(const std::vector<std::size_t>& loop, int at_once) {
    std::vector<std::size_t> turns;
    for (int i = 0; i < at_once; ++i) turns.insert(turns.end(), loop.begin(), loop.end());
    const RegionSchedule schedule = scheduled(flow_, turns, timing_, registers_);
    for (int again = 0; again < 3; ++again) run(schedule);
    std::vector<WarpWaits> waits;
    const auto share = static_cast<float>(1.0 / at_once);
    for (const std::size_t i : loop) {
      const WarpWaits& all = waits_[i];
      waits.push_back({all.issue * share, all.arithmetic * share, all.shared * share, all.global * share});
    }
    return waits;
  }

 private:
  std::vector<RegionSchedule> schedules() const {
    const std::vector<bool> starts = region_starts(flow_);
    std::vector<RegionSchedule> made;
    std::vector<std::size_t> region;
    for (std::size_t i = 0; i < flow_.order.size(); ++i) {
      region.push_back(flow_.order[i]);
      if (i + 1 < flow_.order.size() && !starts[i + 1]) continue;
      made.push_back(scheduled(flow_, region, timing_, registers_));
      region.clear();
    }
    return made;
  }

  void run_in_turn(const RegionSchedule& region) {
    const auto left = left_by_turn_.find(region.nodes.front().instruction);
    if (left != left_by_turn_.end()) now_ = left->second;
    run(region);
    for (const RegionSchedule::Node& node : region.nodes)
      for (const std::size_t next : flow_.instructions[node.instruction].next)
        if (const auto place = position_.find(next);
            place != position_.end() && place->second <= position_.at(node.instruction))
          left_by_turn_[next] = now_;
  }

  void run(const RegionSchedule& region) {
    for (const RegionSchedule::Node& node : region.nodes) waits_[node.instruction] = {};
    std::vector<Value> results(region.nodes.size());
    clock_ = 0;
    for (const std::size_t i : region.order) results[i] = issue(region.nodes[i], results);
    for (std::size_t i = 0; i < region.nodes.size(); ++i) {
      const FunctionFlow::Instruction& flow = flow_.instructions[region.nodes[i].instruction];
      for (const std::uint32_t written : flow.writes) {
        Value& value = now_.registers[written];
        if (!flow.guarded || results[i].clock > value.clock) value = results[i];
      }
    }
    now_.shift(clock_);
  }

  Value issue(const RegionSchedule::Node& node, const std::vector<Value>& results) {
    const Scheduled& timing = timing_[node.instruction];
    Value latest{clock_, Source::pipes};
    for (const std::uint32_t read : node.live_in)
      if (now_.registers[read].clock > latest.clock) latest = now_.registers[read];
    for (const std::size_t operand : node.operands)
      if (results[operand].clock > latest.clock) latest = results[operand];
    if (timing.slots <= 0) return latest;  // a name for what is there
    waits_[node.instruction].issue += static_cast<float>(timing.slots);
    wait_for(latest, node.instruction);
    follow_copies(node.instruction);
    const Value result{clock_ + timing.latency, source_of(function_.instructions[node.instruction])};
    clock_ += timing.slots;
    if (timing.alone) wait_for(result, node.instruction);
    return result;
  }

  void wait_for(const Value& value, std::size_t i) {
    const auto clocks = static_cast<float>(std::max(0.0, value.clock - clock_));
    WarpWaits& waits = waits_[i];
    (value.source == Source::pipes    ? waits.arithmetic
     : value.source == Source::shared ? waits.shared
                                      : waits.global) += clocks;
    clock_ += static_cast<double>(clocks);
  }

  //! cp.async.commit_group makes a group of the copies before it; wait_group N waits until N groups are left.
  void follow_copies(std::size_t i) {
    const ptx::Instruction& instruction = function_.instructions[i];
    if (instruction.opcode != "cp") return;
    if (is_async_copy(instruction)) now_.copy = clock_ + assumed_global_clocks;
    if (has_modifier(instruction, "commit_group")) now_.copies.push_back(now_.copy);
    std::size_t left = now_.copies.size();
    if (has_modifier(instruction, "wait_all")) left = 0;
    if (has_modifier(instruction, "wait_group") && !instruction.operands.empty())
      left = static_cast<std::size_t>(std::min<std::uint64_t>(instruction.operands[0].bits, left));
    while (now_.copies.size() > left) {
      wait_for({now_.copies.front(), Source::global}, i);
      now_.copies.pop_front();
    }
  }

  const ptx::Function& function_;
  const FunctionFlow& flow_;
  std::uint32_t registers_;
  std::vector<Scheduled> timing_;
  std::map<std::size_t, std::size_t> position_;     // in the flow's order
  std::map<std::size_t, OnTheirWay> left_by_turn_;  // by the first instruction of a loop
  OnTheirWay now_;
  double clock_ = 0;
  std::vector<WarpWaits> waits_;
};

}  // namespace

std::vector<WarpWaits> warp_waits(const ptx::Function& function, const FunctionFlow& flow,
                                  const std::vector<MachineWork>& work) {
  return Simulation(function, flow, work).run();
}

std::vector<WarpWaits> warp_waits_of_turns(const ptx::Function& function, const FunctionFlow& flow,
                                           const std::vector<MachineWork>& work, const std::vector<std::size_t>& loop,
                                           int at_once) {
  return Simulation(function, flow, work).run_turns(loop, at_once);
}

}  // namespace cudal1::vgpu
