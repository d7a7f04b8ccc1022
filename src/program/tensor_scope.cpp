#include "program/tensor_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {

bool is_reserved_name(std::string_view name) {
  static constexpr std::array<std::string_view, 10> reserved = {"i32", "u32", "i64",   "u64",      "f32",
                                                                "f64", "min", "numel", "ceil_div", "max"};
  return std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

TensorScope::TensorScope(const OpGraph& graph) : graph_(graph) {
  for (std::size_t id = 0; id < graph.values.size(); ++id)
    values_.emplace(graph.values[id].name, static_cast<ValueId>(id));
}

void TensorScope::declare(BufferDirective buffer) {
  const std::string& name = buffer.name;
  if (is_reserved_name(name))
    reject(Status::plan_error, buffer.at,
           fmt::format("{} has a meaning in expressions; name the buffer otherwise", quoted(name)));
  if (values_.contains(name) || graph_.find_node(name) >= 0)
    reject(Status::plan_error, buffer.at,
           fmt::format("the task has {} already; name the buffer otherwise", quoted(name)));
  const int index = static_cast<int>(buffers_.size());
  if (const auto [earlier, fresh] = buffer_indices_.emplace(name, index); !fresh)
    reject(
        Status::plan_error, buffer.at,
        fmt::format("buffer {} is declared twice, first in line {}", quoted(name), buffers_[earlier->second].at.line));
  buffers_.push_back(std::move(buffer));
}

TensorTerm TensorScope::read_tensor(TokenCursor& cursor) const {
  const DirectiveToken token = cursor.next();
  if (token.kind != DirectiveTokenKind::word && token.kind != DirectiveTokenKind::quoted)
    reject(Status::parse_error, token.at, fmt::format("expected a tensor's name, found {}", shown(token)));
  std::string name(token.text);
  if (cursor.accept("[")) {
    const DirectiveToken index = cursor.next();
    if (index.kind != DirectiveTokenKind::number)
      reject(Status::parse_error, index.at, fmt::format("expected the number of an output, found {}", shown(index)));
    cursor.expect("]", "the number of an output");
    name += fmt::format("[{}]", index.text);
  }
  if (const auto found = buffer_indices_.find(name); found != buffer_indices_.end())
    return {name, -1, found->second, buffers_[found->second].meta};
  const auto found = values_.find(name);
  const ValueId id = found != values_.end() ? found->second : graph_.find_value(name);
  if (id < 0) reject_unknown(name, token, cursor);
  return {name, id, -1, graph_.values[id].meta};
}

void TensorScope::reject_unknown(const std::string& name, const DirectiveToken& token,
                                 const TokenCursor& cursor) const {
  std::string advice;
  if (const auto later = announced_.find(name); later != announced_.end()) {
    advice = fmt::format("; buffer {} is declared in line {}: move that line up", quoted(name), later->second);
  } else if (token.is_word() && cursor.peek().is(".") && cursor.peek(1).is_word()) {
    advice = fmt::format("; a name with dots is written in quotes: \"{}.{}\"", name, cursor.peek(1).text.substr(0, 60));
  } else {
    advice = did_you_mean(name, all_names());
    if (advice.empty()) advice = fmt::format("; there are: {}", listed(all_names()));
  }
  reject(Status::plan_error, token.at, fmt::format("there is no tensor {}{}", quoted(name), advice));
}

std::vector<std::string> TensorScope::all_names() const {
  std::vector<std::string> names;
  for (const Value& value : graph_.values) names.push_back(value.name);
  for (const BufferDirective& buffer : buffers_) names.push_back(buffer.name);
  return names;
}

}  // namespace cudal1
