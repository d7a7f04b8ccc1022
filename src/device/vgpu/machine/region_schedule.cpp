#include "device/vgpu/machine/region_schedule.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <queue>
#include <set>

namespace cudal1::vgpu {
namespace {

constexpr std::int64_t fewest_spare = 16;  // words for values that wait for their use, however many others there are

class Region {
 public:
  Region(const FunctionFlow& flow, const std::vector<std::size_t>& region, const std::vector<Scheduled>& instructions,
         std::uint32_t registers)
      : flow_(flow), region_(region), instructions_(instructions), nodes_(region.size()) {
    for (const std::size_t i : region) made_.nodes.push_back({i, {}, {}});
    for (std::size_t i = 0; i < region.size(); ++i) {
      order_registers(i);
      order_memory(i);
      order_calls(i);
    }
    for (Node& node : nodes_) node.readers = node.uses;
    spare_ = std::max<std::int64_t>(registers - words_from_before(), fewest_spare);
    for (std::size_t i = 0; i + 1 < region.size(); ++i) after(i, region.size() - 1, 0);
  }

  RegionSchedule run() {
    find_ways();
    std::vector<std::size_t>& made = made_.order;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].waits_for == 0) soon_.push({0, i});
    for (double now = 0; made.size() < nodes_.size();) {
      for (; !soon_.empty() && soon_.top().first <= now; soon_.pop()) due_.push_back(soon_.top().second);
      const auto next = best_due();
      if (next == due_.end()) {
        now = soon_.top().first;
        continue;
      }
      const std::size_t node = *next;
      due_.erase(next);
      made.push_back(node);
      release(node, now);
      now += instructions_[region_[node]].slots;
    }
    return std::move(made_);
  }

 private:
  struct Edge {
    std::size_t to;
    double delay;
  };
  struct Node {
    std::vector<Edge> next;
    int waits_for = 0;
    double way = 0;             // clocks from here to the end
    double earliest = 0;        // when all it waits for is there
    std::uint32_t words = 0;    // of its results, if others of the region read them
    int uses = 0, readers = 0;  // by others; of them, those that have not been issued
  };
  void after(std::size_t before, std::size_t then, double delay) {
    nodes_[before].next.push_back({then, delay});
    ++nodes_[then].waits_for;
  }

  void order_registers(std::size_t i) {
    const FunctionFlow::Instruction& instruction = flow_.instructions[region_[i]];
    for (const std::uint32_t read : instruction.reads) {
      const auto writers = writers_.find(read);
      if (writers == writers_.end() || writers->second.guarded) made_.nodes[i].live_in.push_back(read);
      if (writers == writers_.end()) continue;
      for (const std::size_t writer : writers->second.nodes) {
        after(writer, i, instructions_[region_[writer]].latency);
        made_.nodes[i].operands.push_back(writer);
        ++nodes_[writer].uses;
      }
    }
    for (const std::uint32_t written : instruction.writes) {
      nodes_[i].words += flow_.words[written];
      Writers& writers = writers_[written];
      if (!instruction.guarded) writers = {{}, false};
      writers.nodes.push_back(i);
    }
  }

  void order_memory(std::size_t i) {
    const Scheduled& instruction = instructions_[region_[i]];
    if (instruction.order == MemoryOrder::none) return;
    if (barrier_) after(*barrier_, i, 0);
    Memory& memory = memories_[instruction.shared ? 1 : 0];
    if (instruction.order == MemoryOrder::barrier) return order_barrier(i);
    since_barrier_.push_back(i);
    if (instruction.order == MemoryOrder::constant_load) return;
    if (memory.store) after(*memory.store, i, 0);
    if (instruction.order == MemoryOrder::load) return memory.loads.push_back(i);
    for (const std::size_t load : memory.loads) after(load, i, 0);
    memory = {i, {}};
  }

  void order_barrier(std::size_t i) {
    for (const std::size_t access : since_barrier_) after(access, i, 0);
    since_barrier_.clear();
    memories_ = {};
    barrier_ = i;
  }

  void order_calls(std::size_t i) {
    if (instructions_[region_[i]].alone)
      for (std::size_t before = call_.value_or(0); before < i; ++before) after(before, i, 0);
    else if (call_)
      after(*call_, i, 0);
    if (instructions_[region_[i]].alone) call_ = i;
  }

  std::int64_t words_from_before() const {
    std::set<std::uint32_t> registers;
    for (const RegionSchedule::Node& node : made_.nodes) registers.insert(node.live_in.begin(), node.live_in.end());
    std::int64_t words = 0;
    for (const std::uint32_t one : registers) words += flow_.words[one];
    return words;
  }

  //! Registers that the node takes, less those that nobody needs after it.
  std::int64_t more_registers(std::size_t i) const {
    std::int64_t more = nodes_[i].uses > 0 ? nodes_[i].words : 0;
    for (const std::size_t operand : made_.nodes[i].operands)
      if (nodes_[operand].readers == 1) more -= nodes_[operand].words;
    return more;
  }

  //! Without room for more values: one that makes room, else it waits for one, else the first of the program.
  std::vector<std::size_t>::iterator best_due() {
    const auto fits = [&](std::size_t i) { return held_ + std::max<std::int64_t>(more_registers(i), 0) <= spare_; };
    auto best = due_.end();
    for (auto one = due_.begin(); one != due_.end(); ++one) {
      if (!fits(*one) && more_registers(*one) > 0) continue;
      if (best == due_.end() || nodes_[*one].way > nodes_[*best].way ||
          (nodes_[*one].way == nodes_[*best].way && *one < *best))
        best = one;
    }
    return best != due_.end() || !soon_.empty() ? best : std::ranges::min_element(due_);
  }

  void find_ways() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      for (const Edge& edge : nodes_[i].next) nodes_[i].way = std::max(nodes_[i].way, nodes_[edge.to].way + edge.delay);
      nodes_[i].way += instructions_[region_[i]].slots;
    }
  }

  void release(std::size_t done, double now) {
    held_ += more_registers(done);
    for (const std::size_t operand : made_.nodes[done].operands) --nodes_[operand].readers;
    for (const Edge& edge : nodes_[done].next) {
      Node& next = nodes_[edge.to];
      next.earliest = std::max(next.earliest, now + edge.delay);
      if (--next.waits_for == 0) soon_.push({next.earliest, edge.to});
    }
  }

  //! The last of a register: several where guards leave it open, and what was there before the region if all have one.
  struct Writers {
    std::vector<std::size_t> nodes;
    bool guarded = true;
  };
  struct Memory {
    std::optional<std::size_t> store;
    std::vector<std::size_t> loads;
  };
  using Timed = std::pair<double, std::size_t>;

  const FunctionFlow& flow_;
  const std::vector<std::size_t>& region_;
  const std::vector<Scheduled>& instructions_;
  std::vector<Node> nodes_;
  RegionSchedule made_;
  std::map<std::uint32_t, Writers> writers_;
  std::array<Memory, 2> memories_;
  std::optional<std::size_t> barrier_;
  std::vector<std::size_t> since_barrier_;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> soon_;  // by when they can be issued
  std::vector<std::size_t> due_;
  std::int64_t held_ = 0;   // words of values that wait for their use
  std::int64_t spare_ = 0;  // words that there are for them
  std::optional<std::size_t> call_;
};

}  // namespace

RegionSchedule scheduled(const FunctionFlow& flow, const std::vector<std::size_t>& region,
                         const std::vector<Scheduled>& instructions, std::uint32_t registers) {
  return region.empty() ? RegionSchedule{} : Region(flow, region, instructions, registers).run();
}

}  // namespace cudal1::vgpu
