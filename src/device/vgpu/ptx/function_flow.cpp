#include "device/vgpu/ptx/function_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

//! Opcodes whose first operand is no result.
const std::set<std::string, std::less<>> without_result{
    "st",    "red",      "bra", "brx",     "ret",     "exit",      "trap",    "bar",           "call", "membar",
    "fence", "prefetch", "cp",  "barrier", "pmevent", "nanosleep", "discard", "applypriority", "brkpt"};

bool is_first(const ptx::Instruction& instruction, std::size_t i) {
  if (i != 0) return false;
  const bool reduces =
      (instruction.opcode == "bar" || instruction.opcode == "barrier") && has_modifier(instruction, "red");
  return reduces || !without_result.contains(instruction.opcode);
}

//! The second of setp's p|q and shfl's d|p: it shows in the number of operands.
bool is_second_result(const ptx::Instruction& instruction, std::size_t i) {
  if (i != 1) return false;
  const std::size_t given = instruction.operands.size();
  if (instruction.opcode == "shfl") return given == 6;
  if (instruction.opcode != "setp") return false;
  const bool combines =
      has_modifier(instruction, "and") || has_modifier(instruction, "or") || has_modifier(instruction, "xor");
  return given == (combines ? 5u : 4u);
}

bool ends_flow(const ptx::Instruction& instruction) {
  if (instruction.guard) return false;
  return instruction.opcode == "bra" || instruction.opcode == "brx" || instruction.opcode == "ret" ||
         instruction.opcode == "exit" || instruction.opcode == "trap";
}

std::vector<std::size_t> targets_of(const ptx::Function& function, const ptx::Instruction& instruction) {
  std::vector<std::string> labels;
  if (instruction.opcode == "bra" && !instruction.operands.empty()) labels.push_back(instruction.operands[0].name);
  if (instruction.opcode == "brx" && instruction.operands.size() > 1)
    if (const auto table = function.branch_targets.find(instruction.operands[1].name);
        table != function.branch_targets.end())
      labels = table->second;
  std::vector<std::size_t> targets;
  for (const std::string& label : labels)
    if (const auto found = function.labels.find(label); found != function.labels.end())
      targets.push_back(found->second);
  return targets;
}

//! Depth first from the start: sort(successors) says which to visit first, leave(i) is called when all after i are
//! done, back(i, first) for an edge to an instruction that is still being visited.
template <class Sort, class Leave, class Back>
void walk(const FunctionFlow& flow, Sort sort, Leave leave, Back back) {
  enum class State : std::uint8_t { unseen, open, done };
  struct Visit {
    std::size_t at;
    std::vector<std::size_t> left;
  };
  std::vector<State> state(flow.instructions.size(), State::unseen);
  std::vector<Visit> stack;
  const auto enter = [&](std::size_t i) {
    state[i] = State::open;
    std::vector<std::size_t> next = flow.instructions[i].next;
    sort(next);
    std::ranges::reverse(next);  // taken from the back
    stack.push_back({i, std::move(next)});
  };
  if (!flow.instructions.empty()) enter(0);
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.left.empty()) {
      state[visit.at] = State::done;
      leave(visit.at);
      stack.pop_back();
      continue;
    }
    const std::size_t next = visit.left.back();
    visit.left.pop_back();
    if (next >= flow.instructions.size()) continue;
    if (state[next] == State::open) back(visit.at, next);
    if (state[next] == State::unseen) enter(next);
  }
}

//! By the first instruction of a loop: those that lead back to it.
std::map<std::size_t, std::vector<std::size_t>> back_edges(const FunctionFlow& flow) {
  std::map<std::size_t, std::vector<std::size_t>> edges;
  walk(
      flow, [](std::vector<std::size_t>&) {}, [](std::size_t) {},
      [&](std::size_t from, std::size_t first) { edges[first].push_back(from); });
  return edges;
}

std::vector<std::vector<std::size_t>> predecessors(const FunctionFlow& flow) {
  std::vector<std::vector<std::size_t>> before(flow.instructions.size() + 1);
  for (std::size_t i = 0; i < flow.instructions.size(); ++i)
    for (const std::size_t next : flow.instructions[i].next) before[next].push_back(i);
  return before;
}

}  // namespace

bool has_modifier(const ptx::Instruction& instruction, const std::string& word) {
  return std::ranges::find(instruction.modifiers, word) != instruction.modifiers.end();
}

FunctionFlow::FunctionFlow(const ptx::Function& function) {
  for (const ptx::RegisterFamily& family : function.registers) {
    if (family.count == 0) add_register(family.name, family.type);
    for (std::uint32_t i = 0; i < family.count; ++i) add_register(fmt::format("{}{}", family.name, i), family.type);
  }
  find_registers(function);
  find_successors(function);
  find_loops();
  find_order();
}

void FunctionFlow::add_register(const std::string& name, const std::string& type) {
  indices_[name] = static_cast<std::uint32_t>(words.size());
  words.push_back(type == "pred" ? 0 : static_cast<std::uint32_t>((ptx::bytes_of_type(type) + 3) / 4));
}

void FunctionFlow::add_operand(const Operand& operand, std::vector<std::uint32_t>& registers) const {
  if (operand.kind == Operand::Kind::name)
    if (const auto found = indices_.find(operand.name); found != indices_.end()) registers.push_back(found->second);
  for (const Operand& element : operand.elements) add_operand(element, registers);
}

void FunctionFlow::find_registers(const ptx::Function& function) {
  for (const ptx::Instruction& instruction : function.instructions) {
    Instruction flow;
    flow.guarded = instruction.guard.has_value();
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const bool result = is_first(instruction, i) || is_second_result(instruction, i);
      add_operand(instruction.operands[i], result ? flow.writes : flow.reads);
    }
    if (instruction.guard)
      if (const auto found = indices_.find(instruction.guard->predicate); found != indices_.end())
        flow.reads.push_back(found->second);
    instructions.push_back(std::move(flow));
  }
}

void FunctionFlow::find_successors(const ptx::Function& function) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const ptx::Instruction& written = function.instructions[i];
    instructions[i].next = targets_of(function, written);
    if (!ends_flow(written)) instructions[i].next.push_back(i + 1);
  }
}

//! Bodies of natural loops: what reaches the branch back without passing the loop's first instruction.
void FunctionFlow::find_loops() {
  loop_depth.assign(instructions.size(), 0);
  const auto before = predecessors(*this);
  for (const auto& [first, branches_back] : back_edges(*this)) {
    std::vector<bool> inside(instructions.size(), false);
    inside[first] = true;
    std::vector<std::size_t> waiting = branches_back;
    while (!waiting.empty()) {
      const std::size_t i = waiting.back();
      waiting.pop_back();
      if (inside[i]) continue;
      inside[i] = true;
      waiting.insert(waiting.end(), before[i].begin(), before[i].end());
    }
    for (std::size_t i = 0; i < inside.size(); ++i) loop_depth[i] += inside[i] ? 1 : 0;
  }
}

//! Reverse postorder. What leaves a loop is visited before what stays in it, and so comes after it.
void FunctionFlow::find_order() {
  const auto depth = [&](std::size_t i) { return i < loop_depth.size() ? loop_depth[i] : 0; };
  walk(
      *this, [&](std::vector<std::size_t>& next) { std::ranges::stable_sort(next, {}, depth); },
      [&](std::size_t done) { order.push_back(done); }, [](std::size_t, std::size_t) {});
  std::ranges::reverse(order);
}

std::vector<bool> region_starts(const FunctionFlow& flow) {
  constexpr std::size_t most_guarded = 16;
  std::vector<std::size_t> position(flow.instructions.size() + 1, flow.order.size());
  for (std::size_t i = 0; i < flow.order.size(); ++i) position[flow.order[i]] = i;
  std::vector<bool> starts(flow.order.size() + 1, false);
  for (std::size_t i = 0; i < flow.order.size(); ++i)
    for (const std::size_t next : flow.instructions[flow.order[i]].next)
      if (position[next] <= i || position[next] > i + most_guarded) starts[position[next]] = starts[i + 1] = true;
  return starts;
}

}  // namespace cudal1::vgpu
