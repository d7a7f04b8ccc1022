#include "program/unit_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>

#include "program/rejection.hpp"

namespace cudal1 {
namespace {

//! One node must run before another.
struct Dependency {
  int from = -1;
  int to = -1;
};

//! In program order: who wrote a state last, and who has read it since.
struct StateAccesses {
  int writer = -1;
  std::vector<int> readers;
};

class DependencyFinder {
 public:
  explicit DependencyFinder(const OpGraph& graph) : graph_(graph) {}

  std::vector<Dependency> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_view_node(graph_, graph_.nodes[i])) visit(static_cast<int>(i));
    }
    return std::move(dependencies_);
  }

 private:
  void visit(int node) {
    for (const ValueId read : graph_.reads(graph_.nodes[node])) {
      const ValueId base = base_of(graph_, read);
      if (graph_.values[base].kind == ValueKind::state) read_state(base, node);
      add(graph_.values[base].node, node);
    }
    for (const ValueId state : graph_.nodes[node].writes_state) write_state(base_of(graph_, state), node);
  }

  void read_state(ValueId state, int node) {
    add(states_[state].writer, node);
    states_[state].readers.push_back(node);
  }

  void write_state(ValueId state, int node) {
    StateAccesses& accesses = states_[state];
    add(accesses.writer, node);
    for (const int reader : accesses.readers) add(reader, node);
    accesses = {node, {}};
  }

  void add(int from, int to) {
    if (from >= 0 && from != to) dependencies_.push_back({from, to});
  }

  const OpGraph& graph_;
  std::map<ValueId, StateAccesses> states_;
  std::vector<Dependency> dependencies_;
};

class UnitSorter {
 public:
  UnitSorter(const OpGraph& graph, const std::vector<GroupDirective>& groups) : graph_(graph), groups_(groups) {
    make_units();
    outgoing_.resize(units_.size());
    missing_.resize(units_.size());
    for (const Dependency& dependency : DependencyFinder(graph).run()) {
      const int from = unit_of_node_[dependency.from];
      const int to = unit_of_node_[dependency.to];
      if (from == to) continue;
      outgoing_[from].push_back(dependency);
      ++missing_[to];
    }
  }

  UnitOrder run() {
    const std::vector<int> order = sorted();
    if (order.size() != units_.size()) reject_cycle();
    UnitOrder result;
    std::vector<int> place(units_.size());
    for (const int unit : order) {
      place[unit] = static_cast<int>(result.units.size());
      result.units.push_back(std::move(units_[unit]));
    }
    for (const int unit : unit_of_node_) result.unit_of_node.push_back(unit < 0 ? -1 : place[unit]);
    return result;
  }

 private:
  void make_units() {
    unit_of_node_.assign(graph_.nodes.size(), -1);
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      Unit unit{static_cast<int>(group), {}};
      std::copy_if(groups_[group].nodes.begin(), groups_[group].nodes.end(), std::back_inserter(unit.nodes),
                   [&](int node) { return !is_view_node(graph_, graph_.nodes[node]); });
      if (unit.nodes.empty())
        reject(Status::plan_error, groups_[group].at,
               fmt::format("{} replaces views only; a view is no step, so there is nothing to compute",
                           quoted(groups_[group].name)));
      add_unit(std::move(unit));
    }
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      if (unit_of_node_[node] < 0 && !is_view_node(graph_, graph_.nodes[node]))
        add_unit({-1, {static_cast<int>(node)}});
    }
  }

  void add_unit(Unit unit) {
    for (const int node : unit.nodes) unit_of_node_[node] = static_cast<int>(units_.size());
    units_.push_back(std::move(unit));
  }

  //! Of the units that could run next, always the one whose last node comes first in the graph.
  std::vector<int> sorted() const {
    using Candidate = std::pair<int, int>;  // last node, unit
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> ready;
    std::vector<int> missing = missing_;
    const auto offer = [&](int unit) { ready.push({units_[unit].nodes.back(), unit}); };
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      if (missing[unit] == 0) offer(static_cast<int>(unit));
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int unit = ready.top().second;
      ready.pop();
      order.push_back(unit);
      for (const Dependency& dependency : outgoing_[unit]) {
        const int next = unit_of_node_[dependency.to];
        if (--missing[next] == 0) offer(next);
      }
    }
    return order;
  }

  //! Single nodes cannot form a cycle, so some group is on it; the groups are the first units.
  [[noreturn]] void reject_cycle() const {
    for (std::size_t unit = 0; unit < groups_.size(); ++unit) {
      const std::vector<Dependency> path = path_back_to(static_cast<int>(unit));
      if (path.empty()) continue;
      reject(Status::plan_error, groups_[unit].at,
             fmt::format("{} cannot run as one: {}; take the nodes in between into it or leave one end out",
                         quoted(groups_[unit].name), path_text(path, static_cast<int>(unit))));
    }
    reject(Status::judge_error, {}, "the task's graph is not in topological order");
  }

  //! The shortest way out of the unit and into it again.
  std::vector<Dependency> path_back_to(int unit) const {
    std::vector<int> reached_by(units_.size(), -1);
    std::vector<Dependency> steps;
    std::vector<int> before;  // index of the step that led to a step's start
    std::queue<std::pair<int, int>> open;
    open.push({unit, -1});
    while (!open.empty()) {
      const auto [current, last_step] = open.front();
      open.pop();
      for (const Dependency& dependency : outgoing_[current]) {
        const int next = unit_of_node_[dependency.to];
        if (reached_by[next] >= 0) continue;
        reached_by[next] = static_cast<int>(steps.size());
        steps.push_back(dependency);
        before.push_back(last_step);
        if (next == unit) return unwound(steps, before);
        open.push({next, reached_by[next]});
      }
    }
    return {};
  }

  static std::vector<Dependency> unwound(const std::vector<Dependency>& steps, const std::vector<int>& before) {
    std::vector<Dependency> path;
    for (int step = static_cast<int>(steps.size()) - 1; step >= 0; step = before[step]) path.push_back(steps[step]);
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::string path_text(const std::vector<Dependency>& path, int unit) const {
    std::string text;
    int last = -1;
    const auto visit = [&](int node) {
      if (node == last) return;
      const bool inside = unit_of_node_[node] == unit;
      text += fmt::format("{}{}{}", text.empty() ? "" : " -> ", graph_.nodes[node].name, inside ? " (in it)" : "");
      last = node;
    };
    for (const Dependency& step : path) {
      visit(step.from);
      visit(step.to);
    }
    return text;
  }

  const OpGraph& graph_;
  const std::vector<GroupDirective>& groups_;
  std::vector<Unit> units_;
  std::vector<int> unit_of_node_;
  std::vector<std::vector<Dependency>> outgoing_;  //!< by unit
  std::vector<int> missing_;                       //!< by unit: dependencies on others
};

}  // namespace

ValueId base_of(const OpGraph& graph, ValueId value) {
  const std::optional<ViewOf>& view = graph.values[value].view;
  return view ? view->base : value;
}

bool is_view_node(const OpGraph& graph, const Node& node) {
  return !node.outputs.empty() && node.writes_state.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId output) { return graph.values[output].view.has_value(); });
}

UnitOrder order_units(const OpGraph& graph, const std::vector<GroupDirective>& groups) {
  return UnitSorter(graph, groups).run();
}

}  // namespace cudal1
