#include "device/vgpu/model/load_parallelism.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {
namespace {

enum class Counted { global_loads, shared_loads, arithmetic };

bool reads_global(const ptx::Instruction& instruction) {
  if (instruction.opcode == "cp") return has_modifier(instruction, "global") && has_modifier(instruction, "async");
  if (instruction.opcode != "ld" && instruction.opcode != "atom") return false;
  for (const char* other : {"shared", "shared::cta", "param", "const"})
    if (has_modifier(instruction, other)) return false;
  return true;  // without a space: generic, taken for global
}

bool reads_shared(const ptx::Instruction& instruction) {
  if (instruction.opcode == "ldmatrix") return true;
  if (instruction.opcode != "ld" && instruction.opcode != "atom") return false;
  return has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
}

bool is_counted(const ptx::Instruction& instruction, Counted counted) {
  switch (counted) {
    case Counted::global_loads:
      return reads_global(instruction);
    case Counted::shared_loads:
      return reads_shared(instruction);
    case Counted::arithmetic:
      return !reads_global(instruction) && !reads_shared(instruction) && instruction.opcode != "ld" &&
             instruction.opcode != "st";
  }
  return false;
}

bool is_barrier(const ptx::Instruction& instruction) {
  return instruction.opcode == "bar" || instruction.opcode == "barrier" || instruction.opcode == "membar" ||
         instruction.opcode == "fence";
}

//! Whether it may write what such loads read: stores to another space never do.
bool may_change(const ptx::Instruction& instruction, Counted counted) {
  if (instruction.opcode != "st" && instruction.opcode != "red") return false;
  const bool shared = has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
  const bool global = has_modifier(instruction, "global");
  return counted == Counted::shared_loads ? !global : !shared;
}

//! A load that no store can change: the compiler was told that nobody writes there.
bool is_constant_load(const ptx::Instruction& instruction) {
  return instruction.opcode == "cp" || has_modifier(instruction, "nc");
}

//! cp.async.wait_group N leaves N groups on their way; wait_all none. -1: not a wait.
int groups_left(const ptx::Instruction& instruction) {
  if (instruction.opcode != "cp") return -1;
  if (has_modifier(instruction, "wait_all")) return 0;
  if (!has_modifier(instruction, "wait_group") || instruction.operands.empty()) return -1;
  return static_cast<int>(std::min<std::uint64_t>(instruction.operands[0].bits, 16));
}

//! One region at a time: the level of a counted instruction is how many others it waits for, one after another.
class Levels {
 public:
  Levels(const ptx::Function& function, const FunctionFlow& flow, Counted counted)
      : function_(function), flow_(flow), counted_(counted), level_(flow.words.size()) {}

  double parallelism() {
    const std::vector<bool> starts = region_starts(flow_);
    for (std::size_t i = 0; i < flow_.order.size(); ++i) {
      if (starts[i]) end_region();
      visit(flow_.order[i]);
    }
    end_region();
    return longest_ == 0 ? 1 : std::max(1.0, all_ / longest_);
  }

 private:
  void visit(std::size_t i) {
    const ptx::Instruction& written = function_.instructions[i];
    const FunctionFlow::Instruction& flow = flow_.instructions[i];
    if (const int left = groups_left(written); left > 0) groups_ = std::max(groups_, left + 1);
    if (is_barrier(written)) barrier_floor_ = deepest_;
    if (may_change(written, counted_)) store_floor_ = deepest_;
    int level = is_constant_load(written) ? barrier_floor_ : std::max(barrier_floor_, store_floor_);
    if (counted_ == Counted::arithmetic || !is_counted(written, counted_)) level = 0;
    for (const std::uint32_t read : flow.reads) level = std::max(level, level_[read]);
    if (is_counted(written, counted_)) {
      ++level;
      ++count_;
      weight_at_ = i;
    }
    deepest_ = std::max(deepest_, level);
    for (const std::uint32_t result : flow.writes) level_[result] = level;
  }

  //! What runs in a loop counts eight times for each loop around it.
  void end_region() {
    if (count_ > 0) {
      const double weight = std::pow(8.0, static_cast<double>(std::min<std::size_t>(flow_.loop_depth[weight_at_], 6)));
      all_ += weight * count_ * groups_;
      longest_ += weight * std::max(deepest_, 1);
    }
    std::ranges::fill(level_, 0);
    count_ = deepest_ = barrier_floor_ = store_floor_ = 0;
    groups_ = 1;
  }

  const ptx::Function& function_;
  const FunctionFlow& flow_;
  Counted counted_;
  std::vector<int> level_;  // by register
  int count_ = 0, deepest_ = 0, barrier_floor_ = 0, store_floor_ = 0, groups_ = 1;
  std::size_t weight_at_ = 0;
  double all_ = 0, longest_ = 0;
};

}  // namespace

LoadParallelism load_parallelism(const ptx::Function& function) {
  const FunctionFlow flow(function);
  return {Levels(function, flow, Counted::global_loads).parallelism(),
          Levels(function, flow, Counted::shared_loads).parallelism(),
          Levels(function, flow, Counted::arithmetic).parallelism()};
}

}  // namespace cudal1::vgpu
