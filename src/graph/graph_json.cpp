#include "graph/graph_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "graph/leaf_json.hpp"
#include "graph/meta_json.hpp"

namespace cudal1 {
namespace {

constexpr int max_outputs_of_a_node = 1024;

//! "max_1[1]" taken apart.
struct ValueName {
  std::string_view stem;
  int output = 0;
};

std::optional<ValueName> split_value_name(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return ValueName{text, 0};
  if (!text.ends_with(']')) return std::nullopt;
  const std::string_view digits = text.substr(bracket + 1, text.size() - bracket - 2);
  ValueName name{text.substr(0, bracket), 0};
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), name.output);
  const bool is_whole = problem == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || name.output < 0 || name.output >= max_outputs_of_a_node) return std::nullopt;
  return name;
}

//! Calls `visit` for every string in a JSON value that can be the name of a value.
template <class Visit>
void for_each_value_name(const nlohmann::json& json, const Visit& visit) {
  if (json.is_string()) visit(json.get_ref<const std::string&>());
  if (json.is_array())
    for (const nlohmann::json& element : json) for_each_value_name(element, visit);
}

bool is_in_place(std::string_view op) {
  std::string_view name = op.substr(op.find("::") + 2);
  name = name.substr(0, name.find('.'));
  if (name.starts_with("__i") && name.ends_with("__") && name != "__invert__") return true;
  return name.ends_with('_') && !name.ends_with("__");
}

std::string read_op(const JsonPlace& place) {
  const std::string op = place.text();
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  if (!op.starts_with("aten::") || op.size() == 6 || !std::ranges::all_of(op.substr(6), fits))
    place.fail(fmt::format("\"{}\" is not an operator: expected aten::NAME or aten::NAME.OVERLOAD", op));
  return op;
}

double read_special_float(const JsonPlace& place) {
  const std::string text = place.text();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  place.fail("expected \"inf\", \"-inf\" or \"nan\"");
}

bool is_special_float(const nlohmann::json& json) {
  return json.is_object() && json.size() == 1 && json.contains("float");
}

class GraphReader {
 public:
  GraphReader(const JsonPlace& root, OpGraph& graph, std::vector<LeafSource>& leaves)
      : root_(root), graph_(graph), leaves_(leaves) {}

  void read() {
    read_leaves("inputs", ValueKind::input, graph_.inputs);
    read_leaves("weights", ValueKind::weight, graph_.weights);
    read_leaves("state", ValueKind::state, graph_.states);
    const JsonPlace nodes = root_.at("nodes");
    nodes.expect_array();
    count_outputs(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) read_node(nodes.at(i), static_cast<int>(i));
    read_graph_outputs(root_.at("outputs"));
  }

 private:
  void read_leaves(const std::string& key, ValueKind kind, std::vector<ValueId>& ids) {
    const auto list = root_.find(key);
    if (!list) return;
    list->expect_array();
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto [value, source] = read_leaf(list->at(i), kind);
      source.value = add_value(std::move(value), list->at(i).at("name"));
      ids.push_back(source.value);
      leaves_.push_back(std::move(source));
    }
  }

  ValueId add_value(Value value, const JsonPlace& name_place) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    if (!ids_.emplace(value.name, id).second) name_place.fail(fmt::format("the name \"{}\" is used twice", value.name));
    graph_.values.push_back(std::move(value));
    return id;
  }

  //! Where a node declares no outputs, it has at least those that somebody reads.
  void count_outputs(const JsonPlace& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const JsonPlace node = nodes.at(i);
      const std::string name = node.at("name").text();
      node_indices_.emplace(name, i);
      outputs_read_[name] = 1;
    }
    const auto count = [&](const std::string& text) {
      const auto name = split_value_name(text);
      if (!name) return;
      if (const auto found = outputs_read_.find(std::string(name->stem)); found != outputs_read_.end())
        found->second = std::max(found->second, name->output + 1);
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (const auto args = nodes.at(i).find("args")) for_each_value_name(args->json(), count);
      if (const auto kwargs = nodes.at(i).find("kwargs"))
        for (const auto& [key, argument] : kwargs->json().items()) for_each_value_name(argument, count);
    }
    for_each_value_name(root_.at("outputs").json(), count);
  }

  void read_node(const JsonPlace& place, int index) {
    place.allow_keys({"name", "op", "args", "kwargs", "outputs", "writes_state"});
    Node node;
    node.name = place.at("name").text();
    check_name(place.at("name"), node.name, false);
    node.op = read_op(place.at("op"));
    read_arguments(place, node);
    if (const auto writes = place.find("writes_state")) read_writes(*writes, node);
    if (is_in_place(node.op))
      check_in_place(place, node);
    else
      add_outputs(place, node, index);
    graph_.nodes.push_back(std::move(node));
  }

  void read_arguments(const JsonPlace& place, Node& node) const {
    if (const auto args = place.find("args")) {
      args->expect_array();
      for (std::size_t i = 0; i < args->size(); ++i) node.args.push_back(read_argument(args->at(i)));
    }
    if (const auto kwargs = place.find("kwargs")) {
      if (!kwargs->json().is_object()) kwargs->fail("expected an object");
      for (const auto& [name, ignored] : kwargs->json().items())
        node.kwargs.emplace_back(name, read_argument(kwargs->at(name)));
    }
  }

  Argument read_argument(const JsonPlace& place) const {
    const nlohmann::json& json = place.json();
    if (json.is_null()) return NoArgument{};
    if (json.is_boolean()) return place.boolean();
    if (json.is_number_integer()) return place.integer();
    if (json.is_number()) return place.number();
    if (json.is_string()) return resolve(place);
    if (json.is_array()) return read_list(place);
    if (is_special_float(json)) return read_special_float(place.at("float"));
    if (json.contains("string")) {
      place.allow_keys({"string"});
      return place.at("string").text();
    }
    return read_dtype_argument(place);
  }

  static Argument read_dtype_argument(const JsonPlace& place) {
    place.allow_keys({"dtype", "compute"});
    DTypeArgument argument{read_dtype(place.at("dtype")), false};
    if (const auto compute = place.find("compute")) argument.compute = compute->boolean();
    return argument;
  }

  Argument read_list(const JsonPlace& place) const {
    const nlohmann::json& list = place.json();
    const auto all = [&](auto&& holds) { return std::ranges::all_of(list, holds); };
    if (all([](const auto& json) { return json.is_number_integer(); }))
      return collect<std::int64_t>(place, [](const JsonPlace& element) { return element.integer(); });
    if (all([](const auto& json) { return json.is_number() || is_special_float(json); }))
      return collect<double>(place, [](const JsonPlace& element) {
        return element.json().is_number() ? element.number() : read_special_float(element.at("float"));
      });
    if (all([](const auto& json) { return json.is_boolean(); }))
      return collect<bool>(place, [](const JsonPlace& element) { return element.boolean(); });
    if (all([](const auto& json) { return json.is_string() || json.is_null(); }))
      return collect<ValueRef>(
          place, [&](const JsonPlace& element) { return element.json().is_null() ? ValueRef{} : resolve(element); });
    place.fail("a list holds integers, numbers, booleans, or names of values and null");
  }

  template <class T, class Read>
  static std::vector<T> collect(const JsonPlace& place, const Read& read) {
    std::vector<T> elements;
    for (std::size_t i = 0; i < place.size(); ++i) elements.push_back(read(place.at(i)));
    return elements;
  }

  ValueRef resolve(const JsonPlace& place) const {
    const std::string text = place.text();
    const auto name = split_value_name(text);
    const std::string canonical =
        name && name->output == 0 && node_indices_.contains(std::string(name->stem)) ? std::string(name->stem) : text;
    if (const auto found = ids_.find(canonical); found != ids_.end()) return ValueRef{found->second};
    if (name) refuse_unknown_output(place, *name);
    place.fail(fmt::format("no value is called \"{}\"", text));
  }

  //! The name of a node is right, but the value is not there (yet).
  void refuse_unknown_output(const JsonPlace& place, const ValueName& name) const {
    const auto node = node_indices_.find(std::string(name.stem));
    if (node == node_indices_.end()) return;
    if (node->second >= graph_.nodes.size())
      place.fail(
          fmt::format("reads \"{}\", which only nodes[{}] defines: nodes come in the order in which they run, "
                      "without cycles",
                      place.text(), node->second));
    place.fail(fmt::format("\"{}\" has {} outputs", name.stem, graph_.nodes[node->second].outputs.size()));
  }

  void read_writes(const JsonPlace& place, Node& node) const {
    place.expect_array();
    const std::vector<ValueId> reads = graph_.reads(node);
    for (std::size_t i = 0; i < place.size(); ++i) {
      const ValueId id = resolve(place.at(i)).id;
      if (graph_.values[id].kind != ValueKind::state)
        place.at(i).fail(fmt::format("\"{}\" is not a state", graph_.values[id].name));
      if (std::ranges::find(reads, id) == reads.end())
        place.at(i).fail(fmt::format("\"{}\" is not an argument of {}", graph_.values[id].name, node.name));
      if (std::ranges::find(node.writes_state, id) != node.writes_state.end()) place.at(i).fail("named twice");
      node.writes_state.push_back(id);
    }
  }

  //! Only state is written in place; such a node gives no value, since who reads the state reads it afterwards.
  void check_in_place(const JsonPlace& place, const Node& node) const {
    const ValueRef* written = node.args.empty() ? nullptr : std::get_if<ValueRef>(&node.args.front());
    if (!written || std::ranges::find(node.writes_state, written->id) == node.writes_state.end())
      place.at("op").fail(fmt::format(
          "{} works in place, which only a node may do that lists its first argument, a state, in writes_state; "
          "elsewhere a graph has plain forms (relu, not relu_)",
          node.op));
    if (place.find("outputs")) place.at("outputs").fail("an operator that works in place has no outputs");
  }

  void add_outputs(const JsonPlace& place, Node& node, int index) {
    const auto declared = place.find("outputs");
    std::size_t count = static_cast<std::size_t>(outputs_read_.at(node.name));
    if (declared) {
      declared->expect_array();
      if (declared->size() == 0 || declared->size() > max_outputs_of_a_node)
        declared->fail(fmt::format("expected 1 to {} outputs", max_outputs_of_a_node));
      count = declared->size();
    }
    for (std::size_t k = 0; k < count; ++k) {
      Value value;
      value.name = k == 0 ? node.name : fmt::format("{}[{}]", node.name, k);
      value.node = index;
      value.output = static_cast<int>(k);
      value.declared = declared.has_value();
      if (declared) {
        declared->at(k).allow_keys({"dtype", "shape", "strides"});
        value.meta = read_output_meta(declared->at(k));
      }
      node.outputs.push_back(add_value(std::move(value), place.at("name")));
    }
  }

  void read_graph_outputs(const JsonPlace& place) {
    place.expect_array();
    if (place.size() == 0) place.fail("a graph needs at least one output");
    for (std::size_t i = 0; i < place.size(); ++i) graph_.outputs.push_back(resolve(place.at(i)).id);
  }

  const JsonPlace& root_;
  OpGraph& graph_;
  std::vector<LeafSource>& leaves_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_map<std::string, std::size_t> node_indices_;  //!< all nodes by name, to tell "later" from "never"
  std::unordered_map<std::string, int> outputs_read_;          //!< by node name
};

}  // namespace

void read_graph(const JsonPlace& root, OpGraph& graph, std::vector<LeafSource>& leaves) {
  GraphReader(root, graph, leaves).read();
}

}  // namespace cudal1
