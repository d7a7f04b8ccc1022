#include "writer/draft.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "program/rejection.hpp"
#include "program/source_scan.hpp"
#include "program/tensor_scope.hpp"

namespace cudal1 {
namespace {

std::string extent(const Dim3& sizes) { return fmt::format("({}, {}, {})", sizes[0], sizes[1], sizes[2]); }

std::string launch_options(const WrittenLaunch& launch) {
  std::string text = fmt::format("grid={} block={}", extent(launch.grid), extent(launch.block));
  if (launch.shared_bytes > 0) text += fmt::format(" shared={}", launch.shared_bytes);
  return text + fmt::format(" args=({})", fmt::join(launch.arguments, ", "));
}

std::string buffer_line(const WrittenBuffer& buffer) {
  return fmt::format("//! buffer {} {} [{}]{}\n", buffer.name, to_string(buffer.dtype), fmt::join(buffer.sizes, ", "),
                     buffer.zero ? " zero" : "");
}

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_word_start(name.front())) return false;
  for (const char c : name)
    if (!is_word_part(c) || static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

//! The next word of C++, or one character that is in none.
std::string_view next_piece(std::string_view code, std::size_t at) {
  std::size_t end = at;
  while (end < code.size() && is_word_part(code[end])) ++end;
  return code.substr(at, std::max<std::size_t>(1, end - at));
}

//! Code with the group's name left out and its tensors (p_…) numbered as they come.
std::string without_names(const std::string& code, const std::string& name) {
  std::string plain;
  std::map<std::string_view, std::size_t> tensors;
  for (std::size_t at = 0; at < code.size();) {
    const std::string_view piece = next_piece(code, at);
    at += piece.size();
    if (piece.starts_with("p_"))
      plain += fmt::format("#{}", tensors.emplace(piece, tensors.size()).first->second);
    else if (const std::size_t found = piece.find(name); found != piece.npos)
      plain += fmt::format("{}@{}", piece.substr(0, found), piece.substr(found + name.size()));
    else
      plain += piece;
  }
  return plain;
}

}  // namespace

WrittenGroup joined(WrittenGroup first, const WrittenGroup& second) {
  first.buffers.insert(first.buffers.end(), second.buffers.begin(), second.buffers.end());
  first.launches.insert(first.launches.end(), second.launches.begin(), second.launches.end());
  first.headers.insert(second.headers.begin(), second.headers.end());
  first.code += second.code;
  return first;
}

std::string directive_name(const Value& value) {
  if (value.kind == ValueKind::node_output || (is_identifier(value.name) && !is_reserved_name(value.name)))
    return value.name;
  return fmt::format("\"{}\"", value.name);
}

std::string code_name(const std::string& name) {
  std::string made;
  for (const char c : name) made += is_word_part(c) && static_cast<unsigned char>(c) < 0x80 ? c : '_';
  return made.empty() || is_digit(made.front()) ? "_" + made : made;
}

Draft::Draft(OpGraph task, std::set<std::string> words) : graph(std::move(task)), words_(std::move(words)) {}

void Draft::take_node(int node, const std::string& by, SourcePosition at) {
  const std::string& name = graph.nodes[node].name;
  if (const auto taken = taken_by(name))
    reject(Status::plan_error, at, fmt::format("node {} is replaced already, by {}", quoted(name), *taken));
  taken_[name] = {by, at.line};
}

std::optional<std::string> Draft::taken_by(const std::string& node) const {
  const auto taken = taken_.find(node);
  if (taken == taken_.end()) return std::nullopt;
  return fmt::format("{} in line {}", quoted(taken->second.by), taken->second.line);
}

void Draft::check_taken_nodes(std::string_view word, SourcePosition at) const {
  for (const auto& [name, taken] : taken_)
    if (graph.find_node(name) < 0)
      reject(Status::plan_error, at,
             fmt::format("'{}' takes away node {}, which {} in line {} has replaced; write '{}' above that line", word,
                         quoted(name), quoted(taken.by), taken.line, word));
}

std::string Draft::unused_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; words_.contains(name) || graph.find_value(name) >= 0 || graph.find_node(name) >= 0; ++i)
    name = fmt::format("{}_{}", wish, i);
  words_.insert(name);
  return name;
}

//! The group whose kernels this one's launches can use: its own, or an earlier one's that differ in nothing but names.
//! Networks repeat the same block many times, and compilers take as long for each.
std::string Draft::shared_code(const std::string& name, const WrittenGroup& group) {
  const bool all_named_alike =
      std::ranges::all_of(group.launches, [&](const WrittenLaunch& launch) { return launch.kernel.starts_with(name); });
  if (!all_named_alike) return name;
  return code_.emplace(without_names(group.code, name), name).first->second;
}

void Draft::add_group(const std::string& name, const std::set<int>& nodes, const WrittenGroup& group,
                      const std::string& origin) {
  text_ += fmt::format("\n// {}\n", origin);
  for (const WrittenBuffer& buffer : group.buffers) text_ += buffer_line(buffer);
  std::string names;
  for (const int node : nodes) names += " " + graph.nodes[node].name;
  text_ += fmt::format("//! group {} replaces{}\n", name, names);
  const std::string owner = shared_code(name, group);
  for (const WrittenLaunch& launch : group.launches) {
    const std::string kernel = owner == name ? launch.kernel : owner + launch.kernel.substr(name.size());
    text_ += fmt::format("//! launch {} : {}\n", kernel, launch_options(launch));
  }
  if (owner != name) return;
  for (const std::string& header : group.headers)
    if (headers_.insert(header).second) text_ += fmt::format("#include <{}>\n", header);
  text_ += group.code;
}

std::string Draft::text() const {
  std::string names;
  for (const Node& node : graph.nodes)
    if (is_hoisted(node.name)) names += " " + node.name;
  return names.empty() ? text_ : fmt::format("{}\n//! hoist{}\n", text_, names);
}

}  // namespace cudal1
