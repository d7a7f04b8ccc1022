#include "writer/write_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/node_names.hpp"
#include "program/rejection.hpp"
#include "program/source_scan.hpp"
#include "program/unit_order.hpp"
#include "writer/fusion_check.hpp"
#include "writer/rewrite/graph_edit.hpp"
#include "writer/technique.hpp"

namespace cudal1 {
namespace {

std::set<std::string> words_of(const SourceScan& scan) {
  std::set<std::string> words;
  for (const CodeToken& token : scan.tokens)
    if (token.kind == CodeTokenKind::word) words.emplace(token.text);
  for (const DirectiveText& directive : scan.directives) {
    TokenCursor cursor(directive);
    for (; !cursor.at_end(); cursor.next())
      if (cursor.peek().is_word()) words.emplace(cursor.peek().text);
  }
  return words;
}

std::string text_of(const DirectiveText& directive) {
  std::string text;
  for (const DirectivePiece& piece : directive.pieces) text += std::string(piece.text);
  return text.substr(std::min(text.size(), text.find_first_not_of(' ')));
}

//! Null: none.
const FusionTechnique* first_technique_for(const Region& region) {
  for (const FusionTechnique* technique : fusion_techniques())
    if (technique->is_for(region)) return technique;
  return nullptr;
}

//! Where no technique is for all of these nodes: one that none is for even if it is alone, or the first of them that is
//! too much for the techniques that are for those before it.
std::string why_no_technique(const Region& region) {
  const OpGraph& graph = region.graph();
  const auto named = [&](int node) {
    return fmt::format("{} ({})", quoted(graph.nodes[node].name), graph.nodes[node].op);
  };
  for (const int node : region.computing_nodes())
    if (first_technique_for(Region(graph, {node})) == nullptr)
      return fmt::format("no technique fuses {}; leave it to the library", named(node));
  std::set<int> before;
  for (const int node : region.computing_nodes()) {
    before.insert(node);
    if (first_technique_for(Region(graph, before)) == nullptr)
      return fmt::format("no technique fuses {} together with the nodes of this line before it; fuse them apart",
                         named(node));
  }
  return "no technique fuses these nodes together; fuse them apart";
}

const FusionTechnique& technique_for(const Region& region, SourcePosition at) {
  if (const FusionTechnique* technique = first_technique_for(region)) return *technique;
  if (region.computing_nodes().empty())
    reject(Status::plan_error, at, "these nodes are views: there is nothing to compute");
  reject(Status::plan_error, at, why_no_technique(region));
}

class Writer {
 public:
  Writer(const OpGraph& graph, const SourceScan& scan) : draft_(graph, words_of(scan)) {
    for (const DirectiveText& directive : scan.directives) write(directive);
  }

  bool wrote() const { return !techniques_.empty(); }

  //! The lines of the writer become comments, so that all lines keep their numbers.
  WrittenProgram finish(std::string_view text) {
    std::string plain(text);
    for (const std::size_t at : marks_) plain[at] = ' ';
    if (!plain.empty() && plain.back() != '\n') plain += '\n';
    const int own_lines = static_cast<int>(std::ranges::count(plain, '\n'));
    for (AppliedTechnique& technique : techniques_)
      if (technique.first_line > 0) technique.first_line += own_lines;
    plain += draft_.text();
    return {std::move(draft_.graph), std::move(plain), std::move(techniques_), draft_.hoisted()};
  }

  //! Offsets of the `!` of the writer's lines.
  void mark(std::size_t offset) { marks_.push_back(offset); }
  const std::set<int>& lines() const { return lines_; }

 private:
  void write(const DirectiveText& directive) {
    TokenCursor cursor(directive);
    const DirectiveToken word = cursor.next();
    if (word.text == "fuse") return fuse(cursor, directive, word);
    if (word.text == "kernel" || word.text == "group") return take_replaced(cursor, word);
    if (const RewriteTechnique* technique = rewrite_technique(word.text)) {
      technique->apply(cursor, word, draft_);
      restore_order(draft_.graph);
      draft_.check_taken_nodes(word.text, word.at);
      done(*technique, directive, word);
    }
  }

  //! Whatever a line of the program itself replaces is out of reach. Mistakes in it are the planner's to find.
  void take_replaced(TokenCursor& cursor, const DirectiveToken& word) {
    const std::string name(cursor.peek().text);
    while (!cursor.at_end() && cursor.peek().text != "replaces") cursor.next();
    if (cursor.at_end()) return;
    cursor.next();
    for (const int node : known_nodes(cursor)) draft_.take_node(node, name, word.at);
  }

  std::set<int> known_nodes(TokenCursor& cursor) const {
    std::set<int> nodes;
    try {
      for (const NamedNode& named : read_node_names(cursor, draft_.graph)) nodes.insert(named.node);
    } catch (const Rejection&) {
      nodes.clear();
    }
    return nodes;
  }

  void fuse(TokenCursor& cursor, const DirectiveText& directive, const DirectiveToken& word) {
    std::set<int> nodes;
    for (const NamedNode& named : read_node_names(cursor, draft_.graph)) {
      if (!nodes.insert(named.node).second)
        reject(Status::plan_error, named.at,
               fmt::format("node {} is listed twice", quoted(draft_.graph.nodes[named.node].name)));
      draft_.take_node(named.node, "fuse", named.at);
    }
    if (nodes.empty()) reject(Status::parse_error, cursor.peek().at, "expected the names of nodes after 'fuse'");
    refuse_half_hoisted(nodes, word.at);
    check_runs_as_one(draft_.graph, nodes, word.at);
    const Region region(draft_.graph, nodes);
    const FusionTechnique& technique = technique_for(region, word.at);
    const auto parameters = ParameterValues::read(cursor, technique.description().parameters);
    const std::string name = draft_.unused_name("fuse_" + code_name(draft_.graph.nodes[*nodes.rbegin()].name));
    const WrittenGroup group = technique.write(region, parameters, word.at, name);
    const int lines_before = draft_.line_count();
    draft_.add_group(name, nodes, group, text_of(directive));
    done(technique, directive, word);
    techniques_.back().first_line = lines_before + 1;
    techniques_.back().parameters = group.parameters;
  }

  void refuse_half_hoisted(const std::set<int>& nodes, SourcePosition at) const {
    const Node *inside = nullptr, *outside = nullptr;
    for (const int index : nodes) {
      const Node& node = draft_.graph.nodes[index];
      if (!is_view_node(draft_.graph, node)) (draft_.is_hoisted(node.name) ? inside : outside) = &node;
    }
    if (inside && outside)
      reject(Status::plan_error, at,
             fmt::format("{} is hoisted, so that it runs when weights change; {} runs in every call: fuse them apart",
                         quoted(inside->name), quoted(outside->name)));
  }

  void done(const Technique& technique, const DirectiveText& directive, const DirectiveToken& word) {
    techniques_.push_back({technique.description().name, text_of(directive), word.at});
    for (const DirectivePiece& piece : directive.pieces) lines_.insert(piece.at.line);
  }

  Draft draft_;
  std::vector<AppliedTechnique> techniques_;
  std::vector<std::size_t> marks_;
  std::set<int> lines_;
};

//! `//!` in these lines becomes `// `.
void mark_lines(Writer& writer, std::string_view text) {
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    if (writer.lines().contains(line)) writer.mark(text.find("//!", begin) + 2);
    const std::size_t end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
}

}  // namespace

Result<WrittenProgram> write_program(const OpGraph& graph, std::string_view text, const ProgramLimits& limits) {
  try {
    check_is_text(text, limits.max_text_bytes);
    Writer writer(graph, scan_source(text));
    if (!writer.wrote()) return WrittenProgram{graph, std::string(text), {}, {}};
    mark_lines(writer, text);
    return writer.finish(text);
  } catch (const Rejection& rejection) {
    return rejection.failure;
  }
}

namespace {

//! Where the author asked for what stands in a line that the writer added; a line of the author's own stays.
SourcePosition origin_of(const WrittenProgram& written, std::string_view text, SourcePosition at) {
  if (written.techniques.empty() || at.line <= 1 + std::ranges::count(text, '\n')) return at;
  const AppliedTechnique *group = nullptr, *rewrite = nullptr;
  for (const AppliedTechnique& technique : written.techniques) {
    if (technique.first_line == 0) rewrite = &technique;
    if (technique.first_line > 0 && technique.first_line <= at.line) group = &technique;
  }
  const bool is_last = at.line >= std::ranges::count(written.text, '\n');  // the nodes that rewrites have hoisted
  if (rewrite != nullptr && (is_last || group == nullptr)) return rewrite->at;
  return group != nullptr ? group->at : at;
}

}  // namespace

Result<Plan> plan_program(const OpGraph& graph, std::string_view text, const ProgramLimits& limits) {
  const auto written = write_program(graph, text, limits);
  if (!written) return written.failure();
  ProgramLimits all = limits;
  for (const Technique* technique : all_techniques())
    if (std::ranges::find(all.other_directives, technique->description().directive) == all.other_directives.end())
      all.other_directives.push_back(technique->description().directive);
  auto plan = make_plan(written.value().graph, written.value().text, all);
  if (plan) return plan;
  Failure failure = plan.failure();
  failure.at = origin_of(written.value(), text, failure.at);
  return failure;
}

}  // namespace cudal1
