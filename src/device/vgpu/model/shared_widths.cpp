#include "device/vgpu/model/shared_widths.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {
namespace {

bool is_shared(const ptx::Instruction& instruction) {
  return has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
}

bool loads_shared_word(const ptx::Instruction& instruction) {
  if (instruction.opcode != "ld" || !is_shared(instruction) || instruction.guard) return false;
  if (has_modifier(instruction, "volatile") || instruction.operands.size() < 2) return false;
  const bool vector = has_modifier(instruction, "v2") || has_modifier(instruction, "v4");
  return !vector && ptx::bytes_of_type(instruction.modifiers.back()) == 4;
}

//! Loads do not move across these.
bool ends_group(const ptx::Instruction& instruction) {
  static const std::set<std::string> ends{"bar", "barrier", "bra", "brx", "call", "ret", "membar", "fence", "atom"};
  return ends.contains(instruction.opcode) || (instruction.opcode == "st" && is_shared(instruction));
}

//! Of so many neighbours: as many of four words as possible, then one of two, then one.
double loads_for(std::size_t words) { return static_cast<double>(words / 4 + words % 4 / 2 + words % 2); }

class Groups {
 public:
  void add(const ptx::Operand& address) {
    const std::string base = address.elements.empty() ? address.name : address.elements.front().name;
    offsets_[base].insert(address.offset);
  }

  //! What is left of the loads since the last end, and forgets them.
  double end() {
    double loads = 0;
    for (const auto& [base, offsets] : offsets_) {
      std::size_t run = 0;
      std::int64_t last = 0;
      for (const std::int64_t offset : offsets) {
        if (run > 0 && offset != last + 4) loads += loads_for(std::exchange(run, 0));
        ++run;
        last = offset;
      }
      loads += loads_for(run);
    }
    offsets_.clear();
    return loads;
  }

 private:
  std::map<std::string, std::set<std::int64_t>> offsets_;
};

}  // namespace

double shared_load_width(const ptx::Function& function) {
  const FunctionFlow flow(function);
  Groups groups;
  double written = 0, left = 0, here = 0, weight = 1;
  const auto end_group = [&] {
    written += here * weight;
    left += std::min(groups.end(), here) * weight;
    here = 0;
  };
  for (const std::size_t i : flow.order) {
    const ptx::Instruction& instruction = function.instructions[i];
    if (ends_group(instruction)) end_group();
    if (!loads_shared_word(instruction)) continue;
    weight = std::pow(8.0, static_cast<double>(std::min<std::size_t>(flow.loop_depth[i], 6)));
    groups.add(instruction.operands[1]);
    ++here;
  }
  end_group();
  return left > 0 ? std::max(1.0, written / left) : 1;
}

}  // namespace cudal1::vgpu
