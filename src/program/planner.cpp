// Program text -> Plan: lays out buffers and steps, and checks that groups deliver what the rest reads.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/random_nodes.hpp"
#include "program/directives.hpp"
#include "program/kernel_signature.hpp"
#include "program/plan.hpp"
#include "program/plan_hash.hpp"
#include "program/rejection.hpp"
#include "program/source_scan.hpp"
#include "program/step_branches.hpp"
#include "program/unit_order.hpp"

namespace cudal1 {
namespace {

//! A launch of a group that names a value, and where.
struct Mention {
  int unit = -1;
  SourcePosition at;
};

class PlanBuilder {
 public:
  PlanBuilder(const OpGraph& graph, const ParsedProgram& program)
      : graph_(graph), program_(program), order_(order_units(graph, program.groups)) {}

  Plan build() {
    plan_.cuda_graph = program_.cuda_graph;
    plan_.outputs = graph_.outputs;
    find_prepared_units();
    collect_mentions();
    check_prepares();
    check_hoisted();
    check_groups();
    add_leaf_buffers();
    add_value_buffers();
    add_declared_buffers();
    fill_values();
    add_prepare_steps();
    add_call_steps();
    check_graph();
    list_kernels();
    return std::move(plan_);
  }

 private:
  //! Those whose nodes are all hoisted.
  void find_prepared_units() {
    is_hoisted_.assign(graph_.nodes.size(), false);
    for (const NamedNode& named : program_.hoisted) is_hoisted_[named.node] = true;
    for (const Unit& unit : order_.units) {
      const auto hoisted = std::ranges::count_if(unit.nodes, [&](int node) { return is_hoisted_[node]; });
      if (hoisted > 0 && hoisted < std::ssize(unit.nodes))
        reject(Status::plan_error, program_.groups[unit.group].at,
               fmt::format("{} replaces nodes that are hoisted and others that are not",
                           quoted(program_.groups[unit.group].name)));
      is_prepared_.push_back(hoisted > 0);
    }
  }

  //! Every node for itself: what it reads and what becomes of it.
  void check_hoisted() const {
    for (const NamedNode& named : program_.hoisted) {
      const Node& node = graph_.nodes[named.node];
      const auto refuse = [&](std::string_view why) {
        reject(Status::plan_error, named.at, fmt::format("{} cannot be hoisted: {}", quoted(node.name), why));
      };
      if (!node.writes_state.empty()) refuse("it updates a state");
      if (draws_repeatably(node.op)) refuse("it draws random numbers");
      for (const ValueId output : node.outputs)
        if (output_bases_.contains(base_of(graph_, output))) refuse("every call must return its result");
      for (const ValueId read : graph_.reads(node)) {
        const Value& base = graph_.values[base_of(graph_, read)];
        const bool is_constant = base.kind == ValueKind::weight || (base.node >= 0 && is_hoisted_[base.node]);
        if (!is_constant)
          refuse(fmt::format("it reads {}, which is {}; only weights may reach it", quoted(graph_.values[read].name),
                             kind_text(base.kind)));
      }
    }
  }

  void collect_mentions() {
    for (const ValueId output : graph_.outputs) output_bases_.insert(base_of(graph_, output));
    for (std::size_t unit = 0; unit < order_.units.size(); ++unit) {
      if (order_.units[unit].group < 0) continue;
      for (const LaunchDirective& launch : program_.groups[order_.units[unit].group].launches) {
        for (const LaunchArgument& argument : launch.args) mention(argument, static_cast<int>(unit));
      }
    }
  }

  void mention(const LaunchArgument& argument, int unit) {
    const auto* tensor = std::get_if<TensorTerm>(&argument.content);
    if (tensor == nullptr) return;
    if (tensor->buffer >= 0) {
      used_buffers_.insert(tensor->buffer);
      if (is_prepared_[unit]) prepared_buffers_.insert(tensor->buffer);
      return;
    }
    needed_values_.insert(tensor->value);
    const ValueId base = base_of(graph_, tensor->value);
    const int producer = graph_.values[base].node;
    if (producer < 0 && graph_.values[base].kind == ValueKind::node_output)
      reject(Status::plan_error, argument.at,
             fmt::format("{} is not computed any more: a line above has taken its node away", quoted(tensor->name)));
    if (is_prepared_[unit] &&
        !(producer >= 0 ? is_prepared_[order_.unit_of_node[producer]] : graph_.values[base].kind == ValueKind::weight))
      reject(Status::plan_error, argument.at,
             fmt::format("this launch is hoisted, so only weights may reach it; {} is {}", quoted(tensor->name),
                         kind_text(graph_.values[base].kind)));
    if (producer >= 0 && order_.unit_of_node[producer] > unit)
      reject(Status::plan_error, argument.at,
             fmt::format("the launch reads {}, which is computed later, by node {}", quoted(tensor->name),
                         quoted(graph_.nodes[producer].name)));
    mentions_[base].push_back({unit, argument.at});
  }

  //! Only weights may reach `prepare`: whatever it computes is kept from call to call.
  void check_prepares() {
    for (const LaunchDirective& launch : program_.prepares) {
      for (const LaunchArgument& argument : launch.args) {
        const auto* tensor = std::get_if<TensorTerm>(&argument.content);
        if (tensor == nullptr) continue;
        if (tensor->buffer >= 0) {
          prepared_buffers_.insert(tensor->buffer);
          used_buffers_.insert(tensor->buffer);
        } else if (graph_.values[base_of(graph_, tensor->value)].kind != ValueKind::weight) {
          reject(Status::plan_error, argument.at,
                 fmt::format("prepare may use weights and buffers only; {} is {}", quoted(tensor->name),
                             kind_text(graph_.values[tensor->value].kind)));
        } else {
          needed_values_.insert(tensor->value);
        }
      }
    }
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      if (!used_buffers_.contains(static_cast<int>(i)))
        reject(Status::plan_error, program_.buffers[i].at,
               fmt::format("no launch uses buffer {}; remove it or name it in args", quoted(program_.buffers[i].name)));
    }
  }

  static std::string_view kind_text(ValueKind kind) {
    switch (kind) {
      case ValueKind::input:
        return "an input";
      case ValueKind::state:
        return "a state";
      case ValueKind::weight:
        return "a weight";
      case ValueKind::node_output:
        break;
    }
    return "computed by a node";
  }

  void check_groups() {
    find_readers();
    for (std::size_t unit = 0; unit < order_.units.size(); ++unit) {
      if (order_.units[unit].group < 0) continue;
      for (const int node : order_.units[unit].nodes)
        check_node_is_delivered(graph_.nodes[node], static_cast<int>(unit));
    }
  }

  void find_readers() {
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      const int unit = order_.unit_of_node[node];
      if (unit < 0) continue;
      for (const ValueId read : graph_.reads(graph_.nodes[node]))
        readers_[base_of(graph_, read)].push_back(static_cast<int>(node));
    }
  }

  void check_node_is_delivered(const Node& node, int unit) const {
    for (const ValueId output : node.outputs) {
      if (graph_.values[output].view || is_mentioned(output, unit)) continue;
      const std::string reader = reader_outside(output, unit);
      if (!reader.empty()) reject_undelivered(output, unit, reader);
    }
    for (const ValueId state : node.writes_state) {
      if (!is_mentioned(base_of(graph_, state), unit))
        reject_undelivered(state, unit, fmt::format("a state that node {} updates", quoted(node.name)));
    }
  }

  [[noreturn]] void reject_undelivered(ValueId value, int unit, std::string_view reason) const {
    const GroupDirective& group = program_.groups[order_.units[unit].group];
    reject(Status::plan_error, group.at,
           fmt::format("{} must write {}, {}; name it in args", quoted(group.name), quoted(graph_.values[value].name),
                       reason));
  }

  bool is_mentioned(ValueId base, int unit) const {
    const auto found = mentions_.find(base);
    return found != mentions_.end() && std::any_of(found->second.begin(), found->second.end(),
                                                   [&](const Mention& mention) { return mention.unit == unit; });
  }

  //! Who outside the unit needs the value; empty if nobody does.
  std::string reader_outside(ValueId base, int unit) const {
    if (output_bases_.contains(base)) return "which is an output of the task";
    if (const auto found = readers_.find(base); found != readers_.end()) {
      for (const int node : found->second) {
        if (order_.unit_of_node[node] != unit)
          return fmt::format("which node {} reads", quoted(graph_.nodes[node].name));
      }
    }
    if (const auto found = mentions_.find(base); found != mentions_.end())
      return fmt::format("which the launch in line {} reads", found->second.front().at.line);
    return {};
  }

  void add_leaf_buffers() {
    buffer_of_value_.assign(graph_.values.size(), -1);
    for (const ValueId id : graph_.inputs) add_value_buffer(id, BufferRole::input, false);
    for (const ValueId id : graph_.weights) add_value_buffer(id, BufferRole::weight, false);
    for (const ValueId id : graph_.states) add_value_buffer(id, BufferRole::state, false);
  }

  void add_value_buffer(ValueId id, BufferRole role, bool allocated_by_op) {
    buffer_of_value_[id] = static_cast<int>(plan_.buffers.size());
    plan_.buffers.push_back({graph_.values[id].name, role, graph_.values[id].meta, false, allocated_by_op});
    needed_values_.insert(id);
  }

  //! In the order of the graph, not of the steps: it does not depend on how the program groups nodes.
  void add_value_buffers() {
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      const int unit = order_.unit_of_node[node];
      if (unit < 0) continue;
      const bool by_library = order_.units[unit].group < 0;
      for (const ValueId output : graph_.nodes[node].outputs) {
        if (graph_.values[output].view || (!by_library && !mentions_.contains(output))) continue;
        const bool is_output = output_bases_.contains(output), prepared = is_prepared_[unit];
        const BufferRole role = is_output ? BufferRole::output : BufferRole::intermediate;
        add_value_buffer(output, prepared ? BufferRole::prepared : role, by_library && !prepared);
      }
    }
  }

  void add_declared_buffers() {
    first_declared_ = static_cast<int>(plan_.buffers.size());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferDirective& buffer = program_.buffers[i];
      const bool prepared = prepared_buffers_.contains(static_cast<int>(i));
      plan_.buffers.push_back(
          {buffer.name, prepared ? BufferRole::prepared : BufferRole::scratch, buffer.meta, buffer.zero, false});
    }
  }

  //! Every value that a step reads or writes, or that is an output of the task.
  void fill_values() {
    for (const Unit& unit : order_.units) {
      if (unit.group >= 0) continue;
      const Node& node = graph_.nodes[unit.nodes.front()];
      for (const ValueId read : graph_.reads(node)) needed_values_.insert(read);
      needed_values_.insert(node.outputs.begin(), node.outputs.end());
      needed_values_.insert(node.writes_state.begin(), node.writes_state.end());
    }
    needed_values_.insert(graph_.outputs.begin(), graph_.outputs.end());
    plan_.values.resize(graph_.values.size());
    for (const ValueId id : needed_values_) plan_.values[id] = place_of(id);
  }

  TensorRef place_of(ValueId id) const {
    const Value& value = graph_.values[id];
    const std::int64_t offset = value.view ? value.view->offset_elements * size_in_bytes(value.meta.dtype) : 0;
    return {buffer_of_value_[base_of(graph_, id)], offset, value.meta};
  }

  void add_zero_steps(BufferRole role, std::vector<Step>& steps) const {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].zero && plan_.buffers[i].role == role) steps.emplace_back(ZeroStep{static_cast<int>(i)});
    }
  }

  void add_prepare_steps() {
    add_zero_steps(BufferRole::prepared, plan_.prepare);
    for (const LaunchDirective& launch : program_.prepares) plan_.prepare.emplace_back(launch_step(launch));
    add_units(true, plan_.prepare);
  }

  void add_call_steps() {
    add_zero_steps(BufferRole::scratch, plan_.call);
    add_units(false, plan_.call);
  }

  void add_units(bool prepared, std::vector<Step>& steps) const {
    for (std::size_t i = 0; i < order_.units.size(); ++i) {
      const Unit& unit = order_.units[i];
      if (is_prepared_[i] != prepared) continue;
      if (unit.group < 0) steps.emplace_back(OpStep{graph_.nodes[unit.nodes.front()]});
      if (unit.group < 0) continue;
      for (const LaunchDirective& launch : program_.groups[unit.group].launches)
        steps.emplace_back(launch_step(launch));
    }
  }

  LaunchStep launch_step(const LaunchDirective& launch) const {
    LaunchStep step{launch.kernel, launch.grid, launch.block, launch.cluster, launch.shared_bytes, {}, launch.at};
    for (const LaunchArgument& argument : launch.args) step.args.push_back(kernel_argument(argument));
    return step;
  }

  KernelArgument kernel_argument(const LaunchArgument& argument) const {
    const auto* tensor = std::get_if<TensorTerm>(&argument.content);
    if (tensor == nullptr) return std::get<ScalarArgument>(argument.content);
    if (tensor->buffer >= 0) return TensorRef{first_declared_ + tensor->buffer, 0, tensor->meta};
    return plan_.values[tensor->value];
  }

  //! A generator cannot be seeded while a graph is captured, and the graph would draw other numbers at every launch.
  void check_graph() const {
    if (!plan_.cuda_graph) return;
    for (const Step& step : plan_.call)
      if (const auto* op = std::get_if<OpStep>(&step); op && draws_repeatably(op->node.op))
        reject(Status::plan_error, program_.graph_at,
               fmt::format("'graph' cannot hold {}, which draws random numbers", quoted(op->node.name)));
  }

  void list_kernels() {
    std::set<std::string> seen;
    for (const std::vector<Step>* steps : {&plan_.prepare, &plan_.call}) {
      for (const Step& step : *steps) {
        const auto* launch = std::get_if<LaunchStep>(&step);
        if (launch != nullptr && seen.insert(launch->kernel).second) plan_.kernels.push_back(launch->kernel);
      }
    }
  }

  const OpGraph& graph_;
  const ParsedProgram& program_;
  UnitOrder order_;
  Plan plan_;
  std::map<ValueId, std::vector<Mention>> mentions_;  //!< by base value: which groups name it in args
  std::map<ValueId, std::vector<int>> readers_;       //!< by base value: nodes that read it
  std::set<ValueId> output_bases_;
  std::vector<bool> is_hoisted_;   //!< by node
  std::vector<bool> is_prepared_;  //!< by unit
  std::set<ValueId> needed_values_;
  std::set<int> used_buffers_, prepared_buffers_;  //!< by index of the directive
  std::vector<int> buffer_of_value_;               //!< by base value
  int first_declared_ = 0;
};

void check_kernels(const ParsedProgram& program, const KernelCatalog& catalog) {
  for (const LaunchDirective& launch : program.prepares) catalog.check(launch);
  for (const GroupDirective& group : program.groups) {
    for (const LaunchDirective& launch : group.launches) catalog.check(launch);
  }
}

void add_branches(const ParsedProgram& program, const KernelCatalog& catalog, Plan& plan) {
  if (program.branches == 1) return;
  if (plan.call.size() > most_branched_steps)
    reject(
        Status::plan_error, program.branches_at,
        fmt::format("a call of {} steps cannot have branches; at most {} can", plan.call.size(), most_branched_steps));
  plan.branches =
      spread_over_branches(plan, program.branches, [&](const LaunchStep& launch) { return catalog.may_write(launch); });
  if (plan.branches.empty())
    reject(Status::plan_error, program.branches_at,
           "no two steps of this call are independent: each needs what the one before it leaves, so nothing can run "
           "side by side");
}

}  // namespace

bool Plan::has_op_steps() const {
  const auto is_op = [](const Step& step) { return std::holds_alternative<OpStep>(step); };
  return std::ranges::any_of(call, is_op) || std::ranges::any_of(prepare, is_op);
}

bool Plan::has_launches() const { return !kernels.empty(); }

Result<Plan> make_plan(const OpGraph& graph, std::string_view program_text, const ProgramLimits& limits) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // compilers differ in what they make of it
  if (program_text.starts_with(byte_order_mark)) program_text.remove_prefix(byte_order_mark.size());
  try {
    check_is_text(program_text, limits.max_text_bytes);
    const SourceScan scan = scan_source(program_text);
    const ParsedProgram program = parse_directives(graph, scan.directives, limits.other_directives);
    const KernelCatalog catalog(scan.tokens);
    check_kernels(program, catalog);
    Plan plan = PlanBuilder(graph, program).build();
    add_branches(program, catalog, plan);
    if (plan.has_launches()) plan.code = program_text;
    plan.hash = plan_hash(plan);
    return plan;
  } catch (const Rejection& rejection) {
    return rejection.failure;
  }
}

}  // namespace cudal1
