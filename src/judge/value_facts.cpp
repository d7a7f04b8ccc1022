#include "judge/value_facts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "graph/operator_name.hpp"
#include "graph/random_nodes.hpp"
#include "judge/operator_kinds.hpp"
#include "judge/reduction_length.hpp"

namespace cudal1 {
namespace {

bool is_whole(const Argument& argument) {
  if (const auto* number = std::get_if<double>(&argument)) return std::trunc(*number) == *number;
  return true;
}

bool has_whole_numbers_only(const Node& node) {
  return std::ranges::all_of(node.args, is_whole) &&
         std::ranges::all_of(node.kwargs, [](const auto& entry) { return is_whole(entry.second); });
}

//! A number that only moves the binary point: what was exact stays so.
bool is_power_of_two(const Argument& argument) {
  const auto* real = std::get_if<double>(&argument);
  const auto* whole = std::get_if<std::int64_t>(&argument);
  int exponent = 0;
  const double number = real ? *real : whole ? static_cast<double>(*whole) : 0.0;
  return std::abs(std::frexp(number, &exponent)) == 0.5;
}

//! Multiplied, or divided, by such a number.
bool moves_the_point(const Node& node, std::string_view op) {
  return (op == "mul" || op == "div") && node.args.size() == 2 && node.kwargs.empty() && is_power_of_two(node.args[1]);
}

//! The first result of a sort or of a largest element is the elements themselves.
bool names_places(std::string_view op, const Node& node, ValueId id) {
  return gives_places(op) && (op.starts_with("arg") || op == "nonzero" || id != node.outputs.front());
}

bool is_step(const Node& node) {
  const std::string_view op = base_name(node.op);
  return steps(op) || (op == "div" && argument_as<std::string>(node, 2, "rounding_mode"));
}

//! What a node draws depends on nothing that a program computes. Dropout's value does, its mask does not.
bool draws(const Node& node, ValueId id) {
  return draws_repeatably(node.op) && !(node.op == "aten::native_dropout" && id == node.outputs.front());
}

bool is_drawn_whole(const Draw& draw) {
  return draw.kind == Draw::Kind::integers || draw.kind == Draw::Kind::bernoulli;
}

//! Walks through a graph whose leaves are known.
class FactFinder {
 public:
  explicit FactFinder(const OpGraph& graph) : graph_(graph), facts_(graph.values.size()) {
    for (std::size_t id = 0; id < facts_.size(); ++id) facts_[id].exact = !is_floating(graph.values[id].meta.dtype);
  }

  void know_exact(ValueId id) { at(id).exact = true; }

  std::vector<ValueFacts> find() {
    for (const Node& node : graph_.nodes) add(node);
    return std::move(facts_);
  }

 private:
  ValueFacts& at(ValueId id) { return facts_[static_cast<std::size_t>(id)]; }
  bool is_real(ValueId id) const { return is_floating(graph_.values[static_cast<std::size_t>(id)].meta.dtype); }

  std::int64_t most_elements(const std::vector<ValueId>& ids) const {
    std::int64_t most = 1;
    for (const ValueId id : ids) most = std::max(most, graph_.values[static_cast<std::size_t>(id)].meta.numel());
    return most;
  }

  void add(const Node& node) {
    const std::vector<ValueId> reads = OpGraph::reads(node);
    const std::int64_t terms = terms_of(graph_, node);
    ValueFacts joined{.exact = true, .jumps = false, .places = 0, .terms = terms, .nearest_terms = terms};
    bool reads_reals = false;
    std::int64_t places_read = 0;
    for (const ValueId id : reads) {
      at(id).nearest_terms = std::max(at(id).nearest_terms, terms);
      joined.exact = joined.exact && at(id).exact;
      joined.jumps = joined.jumps || at(id).jumps;
      places_read = std::max(places_read, at(id).places);
      joined.terms = std::max(joined.terms, at(id).terms);
      reads_reals = reads_reals || (is_real(id) && !at(id).exact);
    }
    const std::string_view op = base_name(node.op);
    const bool keeps_whole =
        chooses(op) || moves_the_point(node, op) || (computes_in_whole_numbers(op) && has_whole_numbers_only(node));
    for (const ValueId id : node.outputs) {
      const Value& value = graph_.values[static_cast<std::size_t>(id)];
      const bool stays = joined.exact && !reads.empty() && (keeps_whole || value.view);
      ValueFacts& made = at(id) = joined;
      if (draws(node, id)) {
        made = {.exact = !is_real(id) || gives_whole_numbers(op)};
        continue;
      }
      made.exact = !is_real(id) || gives_whole_numbers(op) || stays;
      made.jumps = joined.jumps || (reads_reals && (is_step(node) || !is_real(id)));
      if (is_real(id)) continue;
      if (names_places(op, node, id))
        made.places = most_elements(reads);
      else if (chooses(op) || value.view)
        made.places = places_read;
    }
  }

  const OpGraph& graph_;
  std::vector<ValueFacts> facts_;
};

std::vector<bool> exact_recipe_outputs(const InputRecipe& recipe) {
  FactFinder finder(recipe.graph);
  for (const LeafSource& leaf : recipe.leaves)
    if (is_drawn_whole(leaf.draw)) finder.know_exact(leaf.value);
  const std::vector<ValueFacts> facts = finder.find();
  std::vector<bool> exact;
  for (const ValueId id : recipe.graph.outputs) exact.push_back(facts[static_cast<std::size_t>(id)].exact);
  return exact;
}

bool is_exact(const LeafSource& leaf, const std::vector<bool>& recipe_outputs) {
  if (!leaf.file_key.empty()) return false;
  if (leaf.recipe_output >= 0) return recipe_outputs.at(static_cast<std::size_t>(leaf.recipe_output));
  return is_drawn_whole(leaf.draw);
}

}  // namespace

std::vector<ValueFacts> facts_of(const Task& task) {
  FactFinder finder(task.graph);
  const auto recipe_outputs = task.input_recipe ? exact_recipe_outputs(*task.input_recipe) : std::vector<bool>{};
  for (const LeafSource& leaf : task.leaves)
    if (is_exact(leaf, recipe_outputs)) finder.know_exact(leaf.value);
  return finder.find();
}

std::vector<ValueFacts> facts_of_results(const Task& task, const std::vector<ValueFacts>& facts) {
  std::vector<ValueFacts> results;
  for (const ValueId id : task.graph.outputs) results.push_back(facts[static_cast<std::size_t>(id)]);
  for (const ValueId state : task.graph.states) {
    ValueFacts left = facts[static_cast<std::size_t>(state)];
    for (const Node& node : task.graph.nodes) {
      if (std::ranges::find(node.writes_state, state) == node.writes_state.end()) continue;
      left.terms = std::max(left.terms, terms_of(task.graph, node));
      for (const ValueId id : OpGraph::reads(node)) {
        left.terms = std::max(left.terms, facts[static_cast<std::size_t>(id)].terms);
        left.jumps = left.jumps || facts[static_cast<std::size_t>(id)].jumps;
      }
    }
    results.push_back(left);
  }
  return results;
}

}  // namespace cudal1
