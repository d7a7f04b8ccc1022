#include "policy/prompt/graph_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "graph/operator_name.hpp"
#include "writer/draft.hpp"

namespace cudal1 {
namespace {

class GraphLines {
 public:
  GraphLines(const OpGraph& graph, GraphTextForm form) : graph_(graph), compact_(form == GraphTextForm::compact) {}

  std::string text() const {
    std::string lines;
    append_leaves(lines, "inputs", graph_.inputs, "");
    append_leaves(lines, "weights (constant during a call)", graph_.weights, "");
    append_leaves(lines, "states (updated by nodes)", graph_.states, "state ");
    if (!compact_) lines += "nodes, in the order in which they run:\n";
    for (const Node& node : graph_.nodes) lines += indent() + node_line(node) + "\n";
    lines += (compact_ ? "out " : "outputs: ") + names(graph_.outputs) + "\n";
    return lines;
  }

 private:
  const Value& value(ValueId id) const { return graph_.values[static_cast<std::size_t>(id)]; }
  std::string name(ValueId id) const { return directive_name(value(id)); }
  std::string indent() const { return compact_ ? "" : "  "; }

  std::string names(const std::vector<ValueId>& ids) const {
    std::string list;
    for (const ValueId id : ids) list += (list.empty() ? "" : ", ") + name(id);
    return list;
  }

  std::string meta_text(const TensorMeta& meta) const {
    const std::string shape =
        fmt::format("{}[{}]", to_string(meta.dtype), fmt::join(meta.sizes, compact_ ? "," : ", "));
    if (meta.is_contiguous()) return shape;
    return fmt::format("{} strides [{}]", shape, fmt::join(meta.strides, compact_ ? "," : ", "));
  }

  void append_leaves(std::string& lines, const char* heading, const std::vector<ValueId>& leaves,
                     const char* mark) const {
    if (leaves.empty()) return;
    if (!compact_) lines += fmt::format("{}:\n", heading);
    for (const ValueId id : leaves)
      lines += fmt::format("{}{}{}{} {}\n", indent(), compact_ ? mark : "", name(id), compact_ ? "" : ":",
                           meta_text(value(id).meta));
  }

  std::string argument_text(const Argument& argument) const {
    return std::visit([&](const auto& content) { return shown(content); }, argument);
  }
  std::string shown(const NoArgument&) const { return "None"; }
  std::string shown(const ValueRef& ref) const { return ref.id < 0 ? "None" : name(ref.id); }
  std::string shown(bool flag) const { return flag ? "True" : "False"; }
  std::string shown(std::int64_t number) const { return std::to_string(number); }
  std::string shown(double number) const { return fmt::format("{}", number); }
  std::string shown(const DTypeArgument& argument) const { return std::string(to_string(argument.dtype)); }
  //! As JSON writes it: whatever is in it stays inside its quotes.
  std::string shown(const std::string& text) const {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  template <class Element>
  std::string shown(const std::vector<Element>& list) const {
    std::string elements;
    for (const auto& element : list)
      elements += (elements.empty() ? "" : compact_ ? "," : ", ") + shown(static_cast<Element>(element));
    return "[" + elements + "]";
  }

  std::string node_line(const Node& node) const {
    std::string arguments;
    const auto add = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
    for (const Argument& argument : node.args) add(argument_text(argument));
    for (const auto& [key, argument] : node.kwargs) add(key + "=" + argument_text(argument));
    std::string line = fmt::format("{} = {}({})", node.name, operator_text(node.op), arguments);
    line += results_text(node);
    if (!node.writes_state.empty()) line += fmt::format(" updates {}", names(node.writes_state));
    return line;
  }

  //! The overload follows from the arguments, for whoever has no characters to spare.
  std::string_view operator_text(std::string_view op) const {
    if (compact_) return base_name(op);
    if (op.starts_with("aten::")) op.remove_prefix(6);
    return op;
  }

  std::string results_text(const Node& node) const {
    std::string results;
    for (const ValueId id : node.outputs) {
      results += fmt::format("{}{}", results.empty() ? "" : ", ", meta_text(value(id).meta));
      if (const auto& view = value(id).view) results += fmt::format(" (view of {})", name(view->base));
    }
    if (results.empty()) return "";
    return (compact_ ? " " : " -> ") + results;
  }

  const OpGraph& graph_;
  bool compact_;
};

}  // namespace

std::string graph_text(const OpGraph& graph, GraphTextForm form) { return GraphLines(graph, form).text(); }

}  // namespace cudal1
