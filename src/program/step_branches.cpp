#include "program/step_branches.hpp"

#include <algorithm>
#include <optional>

namespace cudal1 {
namespace {

using Steps = std::vector<std::size_t>;

struct Accesses {
  std::vector<int> reads, writes;  //!< buffers
};

void add_buffers(const Plan& plan, const std::vector<ValueId>& values, std::vector<int>& buffers) {
  for (const ValueId id : values)
    if (id >= 0 && plan.values[static_cast<std::size_t>(id)].buffer >= 0)
      buffers.push_back(plan.values[static_cast<std::size_t>(id)].buffer);
}

Accesses accesses_of(const Plan& plan, const OpStep& step, const MayWrite&) {
  Accesses accesses;
  add_buffers(plan, OpGraph::reads(step.node), accesses.reads);
  add_buffers(plan, step.node.outputs, accesses.writes);
  add_buffers(plan, step.node.writes_state, accesses.writes);
  return accesses;
}

Accesses accesses_of(const Plan&, const LaunchStep& step, const MayWrite& may_write) {
  Accesses accesses;
  const std::vector<bool> writes = may_write(step);
  for (std::size_t i = 0; i < step.args.size(); ++i)
    if (const auto* tensor = std::get_if<TensorRef>(&step.args[i]))
      (writes[i] ? accesses.writes : accesses.reads).push_back(tensor->buffer);
  return accesses;
}

Accesses accesses_of(const Plan&, const ZeroStep& step, const MayWrite&) { return {{}, {step.buffer}}; }

//! Who touched a buffer so far, as far as somebody may still have to wait for it.
struct BufferUse {
  std::optional<std::size_t> writer;
  Steps readers;  //!< since then
};

//! Steps that are before one another: of all before a step, a bit.
class Predecessors {
 public:
  explicit Predecessors(std::size_t steps) : before_(steps, std::vector<bool>(steps, false)) {}

  bool contains(std::size_t step, std::size_t earlier) const { return before_[step][earlier]; }

  //! With all that are before it.
  void add(std::size_t step, std::size_t earlier) {
    for (std::size_t i = 0; i < earlier; ++i)
      if (before_[earlier][i]) before_[step][i] = true;
    before_[step][earlier] = true;
  }

  //! Of these the ones that are not there yet; the latest first, since others may follow from them.
  Steps add_missing(std::size_t step, Steps wanted) {
    std::ranges::sort(wanted, std::ranges::greater{});
    Steps added;
    for (const std::size_t earlier : wanted) {
      if (contains(step, earlier)) continue;
      add(step, earlier);
      added.push_back(earlier);
    }
    std::ranges::reverse(added);
    return added;
  }

  std::vector<std::vector<bool>> take() { return std::move(before_); }

 private:
  std::vector<std::vector<bool>> before_;
};

double cost_of(const Plan& plan, const Step& step) {
  constexpr double of_any_step = 1 << 20;  // a small one takes about as long as moving a megabyte
  double bytes = of_any_step;
  for (const int buffer : buffers_of(plan, step))
    bytes += static_cast<double>(plan.buffers[static_cast<std::size_t>(buffer)].meta.span_bytes());
  return bytes;
}

//! Takes steps one by one, in the plan's order.
class BranchTable {
 public:
  explicit BranchTable(int branches) : free_at_(static_cast<std::size_t>(branches), 0.0) {}

  int add(const Steps& needed, double cost) {
    double ready = 0.0;
    std::optional<std::size_t> last;  // to be done of those that are needed
    for (const std::size_t step : needed) {
      if (!last || end_[step] >= end_[*last]) last = step;
      ready = std::max(ready, end_[step]);
    }
    const std::size_t branch = best_branch(ready, last ? branch_[*last] : 0);
    end_.push_back(std::max(ready, free_at_[branch]) + cost);
    free_at_[branch] = end_.back();
    branch_.push_back(branch);
    return static_cast<int>(branch);
  }

 private:
  //! `preferred` where no other lets it start earlier: who stays on a branch needs not wait for another.
  std::size_t best_branch(double ready, std::size_t preferred) const {
    std::size_t best = preferred;
    for (std::size_t i = 0; i < free_at_.size(); ++i)
      if (std::max(ready, free_at_[i]) < std::max(ready, free_at_[best])) best = i;
    return best;
  }

  std::vector<double> free_at_, end_;  // by branch; by step
  std::vector<std::size_t> branch_;    // by step
};

}  // namespace

std::vector<Steps> needed_steps(const Plan& plan, const MayWrite& may_write) {
  std::vector<BufferUse> uses(plan.buffers.size());
  Predecessors before(plan.call.size());
  std::vector<Steps> needed;
  for (std::size_t i = 0; i < plan.call.size(); ++i) {
    const Accesses accesses =
        std::visit([&](const auto& step) { return accesses_of(plan, step, may_write); }, plan.call[i]);
    Steps wanted;
    for (const std::vector<int>* buffers : {&accesses.reads, &accesses.writes})
      for (const int buffer : *buffers)
        if (const BufferUse& use = uses[static_cast<std::size_t>(buffer)]; use.writer) wanted.push_back(*use.writer);
    for (const int buffer : accesses.writes) {
      const Steps& readers = uses[static_cast<std::size_t>(buffer)].readers;
      wanted.insert(wanted.end(), readers.begin(), readers.end());
    }
    needed.push_back(before.add_missing(i, std::move(wanted)));
    for (const int buffer : accesses.reads) uses[static_cast<std::size_t>(buffer)].readers.push_back(i);
    for (const int buffer : accesses.writes) uses[static_cast<std::size_t>(buffer)] = {i, {}};
  }
  return needed;
}

std::vector<BranchStep> spread_over_branches(const Plan& plan, int branches, const MayWrite& may_write) {
  const std::vector<Steps> needed = needed_steps(plan, may_write);
  std::vector<std::optional<std::size_t>> last(static_cast<std::size_t>(branches));  // by branch
  BranchTable table(branches);
  Predecessors before(plan.call.size());
  std::vector<BranchStep> spread;
  for (std::size_t i = 0; i < plan.call.size(); ++i) {
    BranchStep& made = spread.emplace_back(BranchStep{table.add(needed[i], cost_of(plan, plan.call[i])), {}});
    std::optional<std::size_t>& previous = last[static_cast<std::size_t>(made.branch)];
    if (previous) before.add(i, *previous);
    made.waits_for = before.add_missing(i, needed[i]);
    previous = i;
  }
  const bool forked = std::ranges::any_of(spread, [](const BranchStep& step) { return step.branch != 0; });
  return forked ? spread : std::vector<BranchStep>{};
}

std::size_t branch_count(const Plan& plan) {
  int last = 0;
  for (const BranchStep& step : plan.branches) last = std::max(last, step.branch);
  return static_cast<std::size_t>(last) + 1;
}

StepOrder::StepOrder(const Plan& plan) : steps_(plan.call.size()), branches_(plan.branches) {
  if (branches_.empty()) return;
  Predecessors before(steps_);
  std::vector<std::optional<std::size_t>> last(static_cast<std::size_t>(most_graph_branches));
  for (std::size_t i = 0; i < steps_; ++i) {
    std::optional<std::size_t>& previous = last[static_cast<std::size_t>(branches_[i].branch)];
    if (previous) before.add(i, *previous);
    for (const std::size_t earlier : branches_[i].waits_for) before.add(i, earlier);
    previous = i;
  }
  before_ = before.take();
}

std::vector<std::size_t> StepOrder::unlike_the_plan() const {
  Steps order;
  std::vector<bool> done(steps_, false);
  const auto may_run = [&](std::size_t step) {
    for (std::size_t i = 0; i < step; ++i)
      if (!done[i] && is_before(i, step)) return false;
    return !done[step];
  };
  while (order.size() < steps_) {
    std::size_t step = steps_ - 1;
    while (!may_run(step)) --step;
    done[step] = true;
    order.push_back(step);
  }
  return order;
}

}  // namespace cudal1
