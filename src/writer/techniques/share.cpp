#include "writer/techniques/share.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/random_nodes.hpp"
#include "program/unit_order.hpp"
#include "writer/rewrite/chosen_nodes.hpp"
#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {
namespace {

bool is_same_tensor(const OpGraph& graph, const ValueRef& a, const ValueRef& b) {
  if (a.id == b.id || a.id < 0 || b.id < 0) return a.id == b.id;
  return base_of(graph, a.id) == base_of(graph, b.id) && offset_in_base(graph, a.id) == offset_in_base(graph, b.id) &&
         lie_alike(graph.values[a.id].meta, graph.values[b.id].meta);
}

bool is_same(const OpGraph& graph, const Argument& a, const Argument& b) {
  if (a.index() != b.index()) return false;
  if (const auto* ref = std::get_if<ValueRef>(&a)) return is_same_tensor(graph, *ref, std::get<ValueRef>(b));
  if (const auto* list = std::get_if<ValueList>(&a))
    return std::ranges::equal(*list, std::get<ValueList>(b),
                              [&](const ValueRef& x, const ValueRef& y) { return is_same_tensor(graph, x, y); });
  return a == b;
}

bool compute_the_same(const OpGraph& graph, const Node& a, const Node& b) {
  const auto same = [&](const Argument& x, const Argument& y) { return is_same(graph, x, y); };
  const auto same_named = [&](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); };
  return a.op == b.op && std::ranges::equal(a.args, b.args, same) && std::ranges::equal(a.kwargs, b.kwargs, same_named);
}

std::optional<std::string> objection(const OpGraph& graph, const Node& node) {
  if (node.outputs.size() != 1) return "only nodes with one result are shared";
  if (is_view_node(graph, node)) return "it is a view already, and costs nothing";
  if (!node.writes_state.empty()) return "it updates a state";
  if (draws_repeatably(node.op)) return "it draws random numbers of its own";
  for (const ValueId read : graph.reads(node))
    if (graph.values[base_of(graph, read)].kind == ValueKind::state)
      return fmt::format("it reads {}, a state, which may change in between", quoted(graph.values[read].name));
  return std::nullopt;
}

class Sharing {
 public:
  explicit Sharing(Draft& draft) : draft_(draft), graph_(draft.graph) {}

  void run(std::vector<ChosenNode> chosen) {
    std::ranges::sort(chosen, {}, [&](const ChosenNode& node) { return graph_.find_node(node.name); });
    for (const ChosenNode& node : chosen) visit(node);
  }

  bool found_any() const { return found_any_; }
  //! Why the first that could have been shared was not.
  const std::string& reason() const { return reason_; }

 private:
  //! Earlier ones first, so that what they are made of is the same already.
  void visit(const ChosenNode& chosen) {
    const int index = graph_.find_node(chosen.name);
    if (index < 0) return;
    for (const std::string& name : kept_) {
      const int first = graph_.find_node(name);
      if (first < 0 || !compute_the_same(graph_, graph_.nodes[first], graph_.nodes[index])) continue;
      const ValueId value = graph_.nodes[index].outputs[0], target = graph_.nodes[first].outputs[0];
      auto objected = objection_of_readers(draft_, value);
      if (!objected) objected = objection_to_alias(graph_, value, target);
      if (objected) {
        reason_ = fmt::format("{} is not for 'share': {}", quoted(chosen.name), *objected);
        continue;
      }
      make_alias(graph_, value, target);
      found_any_ = true;
      return;
    }
    kept_.push_back(chosen.name);
  }

  const Draft& draft_;
  OpGraph& graph_;
  std::vector<std::string> kept_;
  std::string reason_ = "no two of these nodes have the same operator and the same arguments";
  bool found_any_ = false;
};

}  // namespace

const TechniqueDescription& ShareResults::description() const {
  static const TechniqueDescription description = {
      "share",
      "share",
      "Of nodes with the same operator and the same arguments only the first is run; the others become other names of "
      "its result.",
      "Modules that write the same subexpression twice, such as a norm in both halves of a cosine.",
      "Never; results stay in memory a little longer.",
      "share exp_1 exp_2",
      {}};
  return description;
}

void ShareResults::apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const {
  const auto chosen =
      read_chosen_nodes(cursor, word, draft, [&](const Node& node) { return objection(draft.graph, node); });
  expect_end(cursor, word);
  Sharing sharing(draft);
  sharing.run(chosen);
  if (!sharing.found_any()) reject(Status::plan_error, word.at, sharing.reason());
}

std::vector<std::string> ShareResults::suggestions(const OpGraph&) const { return {"share *"}; }

}  // namespace cudal1
