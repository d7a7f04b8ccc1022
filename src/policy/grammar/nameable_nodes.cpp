#include "policy/grammar/nameable_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "policy/grammar/rewritten_graphs.hpp"
#include "program/unit_order.hpp"
#include "writer/fused/region.hpp"

namespace cudal1 {
namespace {

constexpr int most_pairs_tried = 64;  // to see whether two kinds of nodes go together

//! What decides to which family a node belongs, as far as other graphs may show it otherwise.
std::string kind_key(const OpGraph& graph, const Node& node) {
  std::string key = fmt::format("{} {} {}", node.name, node.op, node.args.size());
  for (const ValueId read : OpGraph::reads(node))
    key += fmt::format(" {}", fmt::join(graph.values[read].meta.sizes, "x"));
  return key + (is_view_node(graph, node) ? " view" : "");
}

class NodeCollector {
 public:
  NodeCollector() : families_(fusion_techniques().size()) {
    for (std::size_t i = 0; i < families_.size(); ++i) families_[i].technique = fusion_techniques()[i];
  }

  //! The task's own graph comes first. Of nodes that rewrites add, those that never run in a call are left out.
  void look_at(const OpGraph& graph, const std::set<std::string>& hoisted) {
    grown_.clear();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (!hoisted.contains(graph.nodes[i].name) || result_.nodes.contains(graph.nodes[i].name))
        look_at_node(graph, static_cast<int>(i));
    for (const RewriteTechnique* technique : rewrite_techniques()) look_at_patterns(*technique, graph);
    const std::vector<std::vector<int>> members = members_in(graph);
    look_at_pairs(graph, members);
    look_at_joint_techniques(graph, members);
  }

  NameableNodes finish() {
    for (const auto& [technique, joint] : joint_) add_joint_family(technique, joint);
    for (std::size_t i = 0; i < families_.size(); ++i) {
      FusionFamily& family = families_[i];
      if (joint_.contains(i)) continue;
      if (family.members.empty()) continue;
      family.takes_several = together_.contains({i, i});
      family.companions = views_;
      for (std::size_t other = 0; other < families_.size(); ++other)
        if (other != i && together_.contains({i, other}))
          family.companions.insert(families_[other].members.begin(), families_[other].members.end());
      result_.families.push_back(family);  // a copy: those behind it look at its members
    }
    return std::move(result_);
  }

 private:
  void look_at_node(const OpGraph& graph, int index) {
    const Node& node = graph.nodes[static_cast<std::size_t>(index)];
    if (!seen_.insert(kind_key(graph, node)).second) return;
    result_.nodes.insert(node.name);
    if (is_view_node(graph, node)) views_.insert(node.name);
    const Region alone(graph, {index});
    for (std::size_t i = 0; i < families_.size(); ++i)
      if (families_[i].technique->is_for(alone) && families_[i].members.insert(node.name).second) grown_.insert(i);
  }

  void look_at_patterns(const RewriteTechnique& technique, const OpGraph& graph) {
    for (const std::string& line : technique.suggestions(graph)) {
      for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        const std::string word = line.substr(begin, end - begin);
        if (word.find('*') != word.npos) result_.patterns[technique.description().directive].insert(word);
        begin = end + 1;
      }
    }
  }

  std::vector<std::vector<int>> members_in(const OpGraph& graph) const {
    std::vector<std::vector<int>> members(families_.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (std::size_t family = 0; family < families_.size(); ++family)
        if (families_[family].members.contains(graph.nodes[i].name)) members[family].push_back(static_cast<int>(i));
    return members;
  }

  //! Which kinds of nodes a technique takes together; a few pairs show it, since techniques ask each node for its kind.
  void look_at_pairs(const OpGraph& graph, const std::vector<std::vector<int>>& members) {
    for (std::size_t i = 0; i < families_.size(); ++i)
      for (std::size_t other = 0; other < families_.size(); ++other)
        if ((grown_.contains(i) || grown_.contains(other)) && !together_.contains({i, other}) &&
            find_together(graph, i, members[i], members[other]))
          together_.insert({i, other});
  }

  //! Two nodes that the technique of a family takes together.
  std::optional<std::pair<int, int>> find_together(const OpGraph& graph, std::size_t family, const std::vector<int>& of,
                                                   const std::vector<int>& with) const {
    int tried = 0;
    for (const int first : of)
      for (const int second : with) {
        if (first == second) continue;
        if (++tried > most_pairs_tried) return std::nullopt;
        if (families_[family].technique->is_for(Region(graph, {first, second}))) return std::pair(first, second);
      }
    return std::nullopt;
  }

  //! A technique that takes no node alone, but some of two families together: a product and a reduction of its rows.
  struct JointTechnique {
    std::set<std::size_t> anchors, companions;  //!< families: one node of the former, any number of the latter
  };

  void look_at_joint_techniques(const OpGraph& graph, const std::vector<std::vector<int>>& members) {
    for (std::size_t i = 0; i < families_.size(); ++i)
      if (families_[i].members.empty())
        for (std::size_t anchor = 0; anchor < families_.size(); ++anchor)
          if (!together_.contains({anchor, anchor})) look_at_anchor(graph, i, anchor, members);
  }

  void look_at_anchor(const OpGraph& graph, std::size_t technique, std::size_t anchor,
                      const std::vector<std::vector<int>>& members) {
    for (std::size_t other = 0; other < families_.size(); ++other) {
      const auto found = find_together(graph, technique, members[anchor], members[other]);
      if (!found) continue;
      JointTechnique& joint = joint_[technique];
      joint.anchors.insert(anchor);
      joint.companions.insert(other);
      for (std::size_t further = 0; further < families_.size(); ++further)
        if (takes_further(graph, technique, *found, members[further])) joint.companions.insert(further);
    }
  }

  bool takes_further(const OpGraph& graph, std::size_t technique, const std::pair<int, int>& pair,
                     const std::vector<int>& nodes) const {
    const auto tried = nodes.begin() + std::min<std::ptrdiff_t>(most_pairs_tried, std::ssize(nodes));
    return std::any_of(nodes.begin(), tried, [&](int node) {
      return node != pair.first && node != pair.second &&
             families_[technique].technique->is_for(Region(graph, {pair.first, pair.second, node}));
    });
  }

  void add_joint_family(std::size_t technique, const JointTechnique& joint) {
    FusionFamily family;
    family.technique = families_[technique].technique;
    family.companions = views_;
    for (const std::size_t anchor : joint.anchors)
      family.members.insert(families_[anchor].members.begin(), families_[anchor].members.end());
    for (const std::size_t companion : joint.companions)
      family.companions.insert(families_[companion].members.begin(), families_[companion].members.end());
    result_.families.push_back(std::move(family));
  }

  std::vector<FusionFamily> families_;  //!< in the order of fusion_techniques()
  std::set<std::size_t> grown_;         //!< families to which this graph has added members
  std::set<std::string> seen_, views_;
  std::set<std::pair<std::size_t, std::size_t>> together_;
  std::map<std::size_t, JointTechnique> joint_;  //!< by technique
  NameableNodes result_;
};

//! "relu_" of "relu_12"; empty: the name has no number at its end.
std::string stem_of(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end == name.npos || end + 1 == name.size() || name[end] != '_' ? "" : name.substr(0, end + 1);
}

}  // namespace

NameableNodes nameable_nodes(const OpGraph& graph, int most_combinations) {
  NodeCollector collector;
  for_each_rewritten_graph(graph, most_combinations,
                           [&](const RewrittenGraph& seen) { collector.look_at(seen.graph, seen.hoisted); });
  return collector.finish();
}

std::set<std::string> stem_patterns(const std::set<std::string>& nodes) {
  std::set<std::string> patterns;
  for (const std::string& node : nodes)
    if (const std::string stem = stem_of(node); !stem.empty()) patterns.insert(stem + "*");
  return patterns;
}

}  // namespace cudal1
