#include "policy/grammar/launch_rules.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>

#include "writer/draft.hpp"

namespace cudal1 {
namespace {

constexpr int nested_expressions = 3;  // parentheses and functions in each other

//! All ways to write it: a path may be quoted where it need not, a first output be counted where there are others.
std::set<std::string> names_of(const OpGraph& graph, const Value& value) {
  std::set<std::string> names = {directive_name(value)};
  if (value.kind == ValueKind::weight || value.kind == ValueKind::state)
    names.insert(fmt::format("\"{}\"", value.name));
  if (value.node >= 0 && value.output == 0 && graph.nodes[static_cast<std::size_t>(value.node)].outputs.size() > 1)
    names.insert(value.name + "[0]");
  return names;
}

//! `name.size(i)` with dimensions that there are, and `numel(name)`. Buffers are left out: their sizes are numbers that
//! the program has written down above.
void add_sizes(GbnfText& grammar, const OpGraph& graph) {
  std::map<std::size_t, std::set<std::string>> names_of_rank;
  std::set<std::string> all;
  for (const Value& value : graph.values) {
    names_of_rank[value.meta.sizes.size()].merge(names_of(graph, value));
    all.merge(names_of(graph, value));
  }
  grammar.rule("value", gbnf_literals(all));
  std::vector<std::string> sizes = {R"g("numel(" value ")")g"};
  for (const auto& [rank, names] : names_of_rank) {
    if (rank == 0) continue;
    std::set<std::string> dimensions;
    for (std::size_t i = 0; i < rank; ++i) {
      dimensions.insert(fmt::format("{}", i));
      dimensions.insert(fmt::format("-{}", i + 1));
    }
    const std::string values = grammar.rule(fmt::format("value-of-{}", rank), gbnf_literals(names));
    sizes.push_back(fmt::format(R"g({} (".size(" | ".stride(") {} ")")g", values, gbnf_literals(dimensions)));
  }
  grammar.rule("size", gbnf_alternatives(sizes));
}

//! Sums of products of factors; `kind` is "i" for integers, "r" where fractions are allowed. The nesting is written
//! out, so that no text nests deeper than the reader of expressions goes.
void add_expressions(GbnfText& grammar, const std::string& kind) {
  for (int level = 0; level <= nested_expressions; ++level) {
    std::vector<std::string> factors = {kind == "i" ? "integer" : "real", "size"};
    if (level > 0) {
      const std::string inner = fmt::format("sum-{}-{}", kind, level - 1);
      factors.push_back(fmt::format(R"g("(" {} ")")g", inner));
      factors.push_back(fmt::format(R"g("ceil_div(" {0} comma {0} ")")g", inner));
      factors.push_back(fmt::format(R"g(("min(" | "max(") {0} (comma {0}){{1,4}} ")")g", inner));
    }
    grammar.rule(fmt::format("factor-{}-{}", kind, level), "\"-\"? " + gbnf_alternatives(factors));
    grammar.rule(fmt::format("product-{}-{}", kind, level),
                 fmt::format(R"g(factor-{0}-{1} (" "? [*/%] " "? factor-{0}-{1})*)g", kind, level));
    grammar.rule(fmt::format("sum-{}-{}", kind, level),
                 fmt::format(R"g(product-{0}-{1} (" "? [+-] " "? product-{0}-{1})*)g", kind, level));
  }
}

void add_words(GbnfText& grammar) {
  grammar.rule("identifier", "[a-zA-Z_] [a-zA-Z0-9_]*");
  grammar.rule("comma", R"g("," " "?)g");
  grammar.rule("integer", R"g("0" | [1-9] [0-9]{0,9} | "0x" [0-9a-fA-F]{1,8})g");
  grammar.rule("real",
               R"g(integer | [0-9]{1,9} ("." [0-9]{1,9} ([eE] [+-]? [0-9]{1,2})? | [eE] [+-]? [0-9]{1,2}) "f"?)g");
  // Between words of a directive, which may go on in the next line.
  grammar.rule("gap", R"g(" " | " \\\n//!" " "{1,8})g");
  grammar.rule("path", R"g(identifier ("::" identifier)*)g");
  grammar.rule("template-argument", R"g("-"? [0-9]{1,9} | path)g");
  grammar.rule("kernel", R"g(path ("<" template-argument (comma template-argument)* ">")?)g");
}

//! Options in any order, each at most once: a rule for every set of those that are left.
std::string add_options(GbnfText& grammar) {
  constexpr std::array<std::string_view, 5> options = {
      R"("grid=" extent)", R"("block=" extent)", R"("args=" arguments)", R"("shared=" sum)", R"("cluster=" extent)"};
  constexpr std::uint32_t needed = 0b00111, all = 0b11111;
  for (std::uint32_t left = 0; left <= all; ++left) {
    std::vector<std::string> choices;
    for (std::size_t i = 0; i < options.size(); ++i)
      if ((left >> i & 1) != 0)
        choices.push_back(fmt::format("gap {} options-{}", options[i], left & ~(std::uint32_t{1} << i)));
    if ((left & needed) == 0) choices.push_back("\"\"");
    grammar.rule(fmt::format("options-{}", left), gbnf_alternatives(choices));
  }
  return fmt::format("options-{}", all);
}

}  // namespace

void add_launch_rules(GbnfText& grammar, const OpGraph& graph, const std::string& replaced) {
  add_words(grammar);
  add_sizes(grammar, graph);
  add_expressions(grammar, "i");
  add_expressions(grammar, "r");
  grammar.rule("sum", fmt::format("sum-i-{}", nested_expressions));
  grammar.rule("extent", R"g(sum | "(" sum (comma sum){0,2} ")")g");
  grammar.rule("argument",
               fmt::format(R"g(value | identifier | [iu] ("32:" | "64:") sum | "f" ("32:" | "64:") sum-r-{})g",
                           nested_expressions));
  grammar.rule("arguments", R"g("(" (argument (comma argument)*)? ")")g");
  const std::string launch = grammar.rule("launch", "kernel gap \":\" " + add_options(grammar));
  grammar.rule("kernel-line", fmt::format(R"g("kernel " kernel gap "replaces" {} gap ":" options-31)g", replaced));
  grammar.rule("group-lines",
               fmt::format(R"g("group " identifier " replaces" {} ("\n//! launch " {})+)g", replaced, launch));
  grammar.rule("prepare-line", "\"prepare \" " + launch);
  grammar.rule("dtype", R"g("f32" | "f64" | "f16" | "bf16" | "i8" | "i16" | "i32" | "i64" | "u8" | "bool")g");
  grammar.rule("buffer-line", R"g("buffer " identifier " " dtype " "? "[" sum (comma sum){0,7} "]" " zero"?)g");
}

void add_code_rules(GbnfText& grammar) {
  // Characters that a program may have, but no backslash: behind one the line may go on in the next.
  grammar.rule("code-character", R"g([^\x00-\x08\x0A-\x1F\x7F\\])g");
  grammar.rule("code-escape", R"g("\\"+ (code-character | "\n"))g");
  grammar.rule("code-rest", "(code-character | code-escape)*");
  grammar.rule("code-line", R"g([ \t]* ([^\x00-\x20\x7F/\\] code-rest | code-escape code-rest | "/" after-slash?)?)g");
  grammar.rule("after-slash",
               R"g([^\x00-\x08\x0A-\x1F\x7F/\\] code-rest | code-escape code-rest | "/" after-slashes?)g");
  grammar.rule("after-slashes", R"g([^\x00-\x08\x0A-\x1F\x7F!\\] code-rest | code-escape code-rest)g");
}

}  // namespace cudal1
