#include "program/directives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "program/expression.hpp"
#include "program/launch_options.hpp"
#include "program/nearest_name.hpp"
#include "program/node_names.hpp"
#include "program/rejection.hpp"
#include "program/step_branches.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_buffer_bytes = std::int64_t{1} << 40;  // more than any GPU has
constexpr std::size_t most_buffer_dimensions = 16;

std::vector<std::string> directive_names(const std::vector<std::string>& others) {
  std::vector<std::string> names = {"kernel", "group", "launch", "buffer", "prepare", "hoist", "graph"};
  for (const std::string& other : others)
    if (std::ranges::find(names, other) == names.end()) names.push_back(other);
  return names;
}

class DirectiveParser {
 public:
  DirectiveParser(const OpGraph& graph, const std::vector<std::string>& other_names)
      : graph_(graph), scope_(graph), names_(directive_names(other_names)), group_of_node_(graph.nodes.size(), -1) {}

  ParsedProgram run(const std::vector<DirectiveText>& directives) {
    std::vector<TokenCursor> cursors;
    for (const DirectiveText& directive : directives) {
      cursors.emplace_back(directive);
      const TokenCursor& cursor = cursors.back();
      if (cursor.peek().text == "buffer") scope_.announce_buffer(cursor.peek(1).text, cursor.peek(1).at.line);
    }
    for (TokenCursor& cursor : cursors) {
      if (!cursor.at_end()) parse(cursor);
    }
    close_group(nullptr);
    program_.buffers = scope_.buffers();
    return std::move(program_);
  }

 private:
  void parse(TokenCursor& cursor) {
    const DirectiveToken word = cursor.next();
    if (word.text != "launch") close_group(&word);
    if (word.text == "kernel") return parse_kernel(cursor);
    if (word.text == "group") return parse_group(cursor);
    if (word.text == "launch") return parse_launch(cursor, word);
    if (word.text == "buffer") return parse_buffer(cursor);
    if (word.text == "prepare") return parse_prepare(cursor);
    if (word.text == "hoist") return parse_hoist(cursor);
    if (word.text == "graph") return parse_graph(cursor, word);
    if (word.text == "branches")
      reject(Status::parse_error, word.at, "branches are those of a graph: //! graph : branches=2");
    reject(Status::parse_error, word.at,
           fmt::format("{} is not a directive{}; the directives are {}", shown(word), did_you_mean(word.text, names_),
                       listed(names_, 24)));
  }

  void parse_kernel(TokenCursor& cursor) {
    GroupDirective group;
    group.at = cursor.peek().at;
    LaunchDirective launch;
    launch.at = group.at;
    group.name = launch.kernel = read_kernel_name(cursor);
    read_replaced_nodes(cursor, group);
    read_launch_options(cursor, scope_, launch);
    group.launches.push_back(std::move(launch));
    program_.groups.push_back(std::move(group));
  }

  void parse_group(TokenCursor& cursor) {
    GroupDirective group;
    const DirectiveToken name = cursor.next();
    if (!name.is_word())
      reject(Status::parse_error, name.at, fmt::format("expected the group's name, found {}", shown(name)));
    group.name = name.text;
    group.at = name.at;
    if (const auto [earlier, fresh] = group_lines_.emplace(group.name, name.at.line); !fresh)
      reject(Status::plan_error, name.at,
             fmt::format("there is a group {} already, in line {}", shown(name), earlier->second));
    read_replaced_nodes(cursor, group);
    expect_end(cursor, "the nodes; the launches follow on lines of their own: //! launch KERNEL : …");
    program_.groups.push_back(std::move(group));
    group_is_open_ = true;
  }

  void parse_launch(TokenCursor& cursor, const DirectiveToken& word) {
    if (!group_is_open_)
      reject(Status::parse_error, word.at,
             "this launch belongs to no group; launch lines follow their group line directly (//! group G replaces "
             "NODE…)");
    program_.groups.back().launches.push_back(read_launch(cursor));
  }

  void parse_prepare(TokenCursor& cursor) { program_.prepares.push_back(read_launch(cursor)); }

  void parse_hoist(TokenCursor& cursor) {
    for (const NamedNode& named : read_node_names(cursor, graph_)) program_.hoisted.push_back(named);
    expect_end(cursor, "the nodes");
  }

  LaunchDirective read_launch(TokenCursor& cursor) {
    LaunchDirective launch;
    launch.at = cursor.peek().at;
    launch.kernel = read_kernel_name(cursor);
    read_launch_options(cursor, scope_, launch);
    return launch;
  }

  void parse_graph(TokenCursor& cursor, const DirectiveToken& word) {
    if (program_.cuda_graph) reject(Status::parse_error, word.at, "graph is given twice");
    program_.cuda_graph = true;
    program_.graph_at = word.at;
    if (cursor.accept(":")) read_branches(cursor);
    expect_end(cursor, "graph");
  }

  void read_branches(TokenCursor& cursor) {
    const DirectiveToken name = cursor.next();
    if (!name.is_word() || name.text != "branches")
      reject(Status::parse_error, name.at,
             fmt::format("graph has one parameter, branches=2 to {}; found {}", most_graph_branches, shown(name)));
    cursor.expect("=", "branches");
    program_.branches_at = cursor.peek().at;
    const std::int64_t branches = read_integer(cursor, scope_);
    if (branches < 1 || branches > most_graph_branches)
      reject(Status::plan_error, program_.branches_at,
             fmt::format("branches is {}; a graph has 1 to {}", branches, most_graph_branches));
    program_.branches = static_cast<int>(branches);
  }

  void parse_buffer(TokenCursor& cursor) {
    BufferDirective buffer;
    const DirectiveToken name = cursor.next();
    if (!name.is_word())
      reject(Status::parse_error, name.at,
             fmt::format("expected the buffer's name (buffer NAME dtype [dims] [zero]), found {}", shown(name)));
    buffer.name = name.text;
    buffer.at = name.at;
    buffer.meta.dtype = read_dtype(cursor);
    buffer.meta.sizes = read_dimensions(cursor);
    refuse_huge(buffer);
    buffer.meta.strides = contiguous_strides(buffer.meta.sizes);
    if (cursor.peek().is_word() && cursor.peek().text == "zero") {
      cursor.next();
      buffer.zero = true;
    }
    expect_end(cursor, "the buffer's dimensions and 'zero'");
    scope_.declare(std::move(buffer));
  }

  static DType read_dtype(TokenCursor& cursor) {
    const DirectiveToken token = cursor.next();
    const std::optional<DType> dtype = token.is_word() ? dtype_from_string(token.text) : std::nullopt;
    if (!dtype)
      reject(
          Status::parse_error, token.at,
          fmt::format("expected a dtype (f32, f64, f16, bf16, i8, i16, i32, i64, u8 or bool), found {}", shown(token)));
    return *dtype;
  }

  std::vector<std::int64_t> read_dimensions(TokenCursor& cursor) {
    std::vector<std::int64_t> sizes;
    cursor.expect("[", "the dtype");
    do {
      const SourcePosition at = cursor.peek().at;
      sizes.push_back(read_integer(cursor, scope_));
      if (sizes.back() < 1)
        reject(Status::plan_error, at, fmt::format("a dimension must be at least 1, not {}", sizes.back()));
      if (sizes.size() > most_buffer_dimensions)
        reject(Status::plan_error, at, fmt::format("a buffer has at most {} dimensions", most_buffer_dimensions));
    } while (cursor.accept(","));
    cursor.expect("]", "the dimensions");
    return sizes;
  }

  static void refuse_huge(const BufferDirective& buffer) {
    std::int64_t bytes = size_in_bytes(buffer.meta.dtype);
    for (const std::int64_t size : buffer.meta.sizes) {
      if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > most_buffer_bytes)
        reject(Status::out_of_memory, buffer.at,
               fmt::format("buffer {} is larger than 1 TiB, which no GPU has", quoted(buffer.name)));
    }
  }

  void read_replaced_nodes(TokenCursor& cursor, GroupDirective& group) {
    const DirectiveToken word = cursor.next();
    if (!word.is_word() || word.text != "replaces")
      reject(Status::parse_error, word.at, fmt::format("expected 'replaces NODE…', found {}", shown(word)));
    const int index = static_cast<int>(program_.groups.size());
    for (const NamedNode& named : read_node_names(cursor, graph_)) take_node(named.node, index, named.at);
    for (std::size_t node = 0; node < group_of_node_.size(); ++node) {
      if (group_of_node_[node] == index) group.nodes.push_back(static_cast<int>(node));
    }
    if (group.nodes.empty())
      reject(Status::parse_error, cursor.peek().at, "expected the names of nodes after 'replaces', or * for all");
  }

  void take_node(int node, int group, SourcePosition at) {
    int& owner = group_of_node_[node];
    const std::string name = quoted(graph_.nodes[node].name);
    if (owner == group) reject(Status::plan_error, at, fmt::format("node {} is listed twice", name));
    if (owner >= 0)
      reject(Status::plan_error, at,
             fmt::format("node {} is replaced already, by {} in line {}", name, quoted(program_.groups[owner].name),
                         program_.groups[owner].at.line));
    owner = group;
  }

  static void expect_end(const TokenCursor& cursor, std::string_view after) {
    if (!cursor.at_end())
      reject(Status::parse_error, cursor.peek().at,
             fmt::format("expected the end of the directive after {}, found {}", after, shown(cursor.peek())));
  }

  //! `word` ends the open group, if there is one.
  void close_group(const DirectiveToken* word) {
    if (!group_is_open_) return;
    group_is_open_ = false;
    const GroupDirective& group = program_.groups.back();
    if (group.launches.empty())
      reject(Status::parse_error, word ? word->at : group.at,
             fmt::format("group {} has no launch; //! launch KERNEL : … lines follow it directly", quoted(group.name)));
  }

  const OpGraph& graph_;
  TensorScope scope_;
  std::vector<std::string> names_;  //!< of directives
  std::vector<int> group_of_node_;  //!< by node: index of its group, -1 for none
  std::map<std::string, int> group_lines_;
  bool group_is_open_ = false;
  ParsedProgram program_;
};

}  // namespace

ParsedProgram parse_directives(const OpGraph& graph, const std::vector<DirectiveText>& directives,
                               const std::vector<std::string>& other_names) {
  return DirectiveParser(graph, other_names).run(directives);
}

}  // namespace cudal1
