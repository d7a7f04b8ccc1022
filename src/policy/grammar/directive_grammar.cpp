#include "policy/grammar/directive_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "policy/grammar/gbnf_text.hpp"
#include "policy/grammar/launch_rules.hpp"
#include "policy/grammar/nameable_nodes.hpp"
#include "program/step_branches.hpp"
#include "writer/technique.hpp"

namespace cudal1 {
namespace {

//! Those of the set, and patterns that choose nothing else.
std::set<std::string> with_patterns(const std::set<std::string>& names, const std::set<std::string>& all_nodes) {
  std::set<std::string> result = names;
  for (const std::string& pattern : stem_patterns(names)) {
    const std::string_view stem = std::string_view(pattern).substr(0, pattern.size() - 1);
    const bool chooses_others = std::ranges::any_of(
        all_nodes, [&](const std::string& node) { return node.starts_with(stem) && !names.contains(node); });
    if (!chooses_others) result.insert(pattern);
  }
  return result;
}

class GrammarMaker {
 public:
  GrammarMaker(const OpGraph& graph, const DirectiveGrammarOptions& options)
      : graph_(graph), options_(options), names_(nameable_nodes(graph, options.most_combinations)) {}

  std::string run() {
    if (!names_.nodes.empty()) {
      grammar_.rule("node", gbnf_literals(names_.nodes));
      add_fusions();
      for (const RewriteTechnique* technique : rewrite_techniques()) add_rewrite(technique->description());
    }
    std::vector<std::string> branches;
    for (int i = 1; i <= most_graph_branches; ++i) branches.push_back(gbnf_literal(fmt::format("{}", i)));
    grammar_.rule("graph-line", R"("//! graph" (" : branches=" )" + gbnf_alternatives(branches) + ")?");
    if (options_.with_code) add_code();
    add_program(options_.with_analysis ? "program" : "root");
    if (options_.with_analysis) add_answer();
    return grammar_.text();
  }

 private:
  //! Lines, at most one of them `graph`; the newline of the last may be left out.
  void add_program(const std::string& name) {
    std::vector<std::string> kinds;
    if (!lines_.empty()) kinds.push_back("\"//! \" " + gbnf_alternatives(lines_));
    if (options_.with_code) kinds.push_back("code-line");
    const std::string newline = gbnf_literal("\n");
    if (kinds.empty()) {
      grammar_.rule(name, fmt::format("graph-line {}?", newline) + (options_.may_be_empty ? " | \"\"" : ""));
      return;
    }
    grammar_.rule("line", gbnf_alternatives(kinds));
    std::vector<std::string> texts = {fmt::format("line ({0} line)* {0}?", newline),
                                      fmt::format("(line {0})* graph-line ({0} line)* {0}?", newline)};
    if (options_.may_be_empty) texts.push_back("\"\"");
    grammar_.rule(name, gbnf_alternatives(texts));
  }

  //! Characters that would be read as the end of a line are no part of its text.
  void add_answer() {
    grammar_.rule("analysis", R"("Analysis: " [^\x00-\x1F\x7F]+)");
    grammar_.rule("root", "analysis " + gbnf_literal("\n") + " program");
  }

  void add_fusions() {
    std::vector<std::string> families;
    for (const FusionFamily& family : names_.families) families.push_back(add_family(family));
    if (families.empty()) return;
    lines_.push_back(grammar_.rule("fuse", "\"fuse\" " + gbnf_alternatives(families)));
  }

  //! At least one member, companions around it.
  std::string add_family(const FusionFamily& family) {
    const std::string name = "fuse-" + family.technique->description().name;
    const std::set<std::string> members =
        family.takes_several ? with_patterns(family.members, names_.nodes) : family.members;
    grammar_.rule(name + "-node", gbnf_literals(members));
    std::string others;
    if (!family.companions.empty()) {
      grammar_.rule(name + "-other", gbnf_literals(with_patterns(family.companions, names_.nodes)));
      others = fmt::format("(\" \" {}-other)*", name);
    }
    std::string further = others;
    if (family.takes_several)
      further = fmt::format("(\" \" {})*",
                            family.companions.empty() ? name + "-node" : fmt::format("({0}-node | {0}-other)", name));
    return grammar_.rule(name,
                         fmt::format("{} \" \" {}-node {} {}", others, name, further, add_parameters(family, name)));
  }

  //! ` : name=value …`, some of them in the order of the manual, or of the alphabet as the search writes them.
  std::string add_parameters(const FusionFamily& family, const std::string& name) {
    std::vector<Parameter> parameters = family.technique->description().parameters;
    if (parameters.empty()) return "";
    for (const Parameter& parameter : parameters)
      grammar_.rule(fmt::format("{}-{}", name, parameter.name),
                    gbnf_literal(fmt::format(" {}=", parameter.name)) + " " +
                        gbnf_literals({parameter.choices.begin(), parameter.choices.end()}));
    std::vector<std::string> orders = {add_in_order(parameters, name, "manual")};
    if (!std::ranges::is_sorted(parameters, {}, &Parameter::name)) {
      std::ranges::sort(parameters, {}, &Parameter::name);
      orders.push_back(add_in_order(parameters, name, "alphabet"));
    }
    return fmt::format("(\" :\" {})?", gbnf_alternatives(orders));
  }

  //! Rule i: at least one of the parameters from the i-th on.
  std::string add_in_order(const std::vector<Parameter>& parameters, const std::string& name,
                           const std::string& order) {
    const auto rule_name = [&](std::size_t i) { return fmt::format("{}-{}-{}", name, order, i); };
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string parameter = fmt::format("{}-{}", name, parameters[i].name);
      const bool is_last = i + 1 == parameters.size();
      grammar_.rule(rule_name(i),
                    is_last ? parameter : fmt::format("{} {}? | {}", parameter, rule_name(i + 1), rule_name(i + 1)));
    }
    return rule_name(0);
  }

  //! As its form says.
  void add_rewrite(const TechniqueDescription& technique) {
    std::istringstream form(technique.form);
    std::string body = gbnf_literal(technique.directive);
    for (std::string word; form >> word;) {
      if (word == "NODE…")
        body += fmt::format(" {}", add_node_list(technique.directive));
      else
        body += fmt::format(" \" \" {}", word == "NODE" ? "node" : gbnf_literal(word));
    }
    lines_.push_back(grammar_.rule(technique.directive, body));
  }

  std::string add_node_list(const std::string& directive) {
    std::set<std::string> patterns = with_patterns(names_.nodes, names_.nodes);
    for (const std::string& node : names_.nodes) patterns.erase(node);
    patterns.insert("*");
    if (const auto found = names_.patterns.find(directive); found != names_.patterns.end())
      patterns.insert(found->second.begin(), found->second.end());
    const std::string rule = grammar_.rule(directive + "-node", "node | " + gbnf_literals(patterns));
    return fmt::format("(\" \" {})+", rule);
  }

  void add_code() {
    if (!names_.nodes.empty()) {
      const std::string replaced = grammar_.rule("replaced", add_node_list("replaced"));
      add_launch_rules(grammar_, graph_, replaced);
      for (const char* line : {"kernel-line", "group-lines", "prepare-line", "buffer-line"}) lines_.emplace_back(line);
    }
    add_code_rules(grammar_);
  }

  const OpGraph& graph_;
  const DirectiveGrammarOptions& options_;
  const NameableNodes names_;
  GbnfText grammar_;
  std::vector<std::string> lines_;  //!< rules for directives without `//! `
};

}  // namespace

std::string directive_grammar(const OpGraph& graph, const DirectiveGrammarOptions& options) {
  return GrammarMaker(graph, options).run();
}

}  // namespace cudal1
