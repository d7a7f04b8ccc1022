// What is one task, whatever it is called. Held against a comparison of its own, which reads graph.json and tries the
// operands of sums, products and extrema in every order.
#include "tasks/nameless_form.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "tasks/generated_task.hpp"
#include "tasks/module_graph.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

// --- the slow comparison

bool is_commutative(const json& node) {
  static const std::set<std::string> ops{"aten::add.Tensor", "aten::mul.Tensor", "aten::maximum", "aten::minimum"};
  return ops.contains(node["op"]) && node["args"].size() == 2 && node["args"][0].is_string() &&
         node["args"][1].is_string();
}

//! Follows the outputs and calls everything after when it was come across.
class Renaming {
 public:
  explicit Renaming(const json& graph) : graph_(graph) {
    for (const char* kind : {"inputs", "weights", "state"})
      for (json leaf : graph.value(kind, json::array())) {
        const std::string name = leaf["name"];
        leaf["name"] = kind;
        defined_[name] = leaf;
      }
    for (const json& node : graph["nodes"]) defined_[node["name"]] = node;
  }

  std::string text() {
    json outputs = renamed(graph_["outputs"]);
    // States are written by nodes that nobody reads.
    for (const json& node : graph_["nodes"])
      if (node.contains("writes_state")) outputs.push_back(renamed(node["name"]));
    return outputs.dump() + json(lines_).dump();
  }

 private:
  json renamed(const json& argument) {
    if (argument.is_string()) return renamed_value(argument);
    if (!argument.is_array()) return argument;
    json made = json::array();
    for (const json& element : argument) made.push_back(renamed(element));
    return made;
  }

  std::string renamed_value(const std::string& name) {
    const std::string stem = name.substr(0, name.find('['));
    if (!numbers_.contains(stem)) {
      numbers_[stem] = std::to_string(numbers_.size());
      json line = defined_.at(stem);
      if (line.contains("op")) line = renamed_node(line);
      lines_[numbers_[stem]] = line;
    }
    return numbers_[stem] + (stem == name ? "" : name.substr(stem.size()));
  }

  json renamed_node(json node) {
    node.erase("name");
    for (const char* key : {"args", "writes_state"})
      if (node.contains(key)) node[key] = renamed(node[key]);
    return node;
  }

  const json& graph_;
  std::map<std::string, json> defined_, lines_;
  std::map<std::string, std::string> numbers_;
};

//! The least text over all orders of operands.
std::string slow_form(const std::string& graph_json) {
  json graph = json::parse(graph_json);
  std::vector<json*> commutative;
  for (json& node : graph["nodes"])
    if (is_commutative(node)) commutative.push_back(&node);
  std::string least;
  for (std::size_t order = 0; order < std::size_t{1} << commutative.size(); ++order) {
    const std::string text = Renaming(graph).text();
    if (least.empty() || text < least) least = text;
    // In Gray's order one pair is exchanged at a time.
    const auto changed = static_cast<std::size_t>(__builtin_ctzll(order + 1));
    if (changed < commutative.size()) std::swap((*commutative[changed])["args"][0], (*commutative[changed])["args"][1]);
  }
  return least;
}

//! What tasks that are one have alike in any case: only where this is the same need they be compared slowly.
std::string rough_form(const std::string& graph_json) {
  const json graph = json::parse(graph_json);
  std::multiset<std::string> parts;
  for (const json& node : graph["nodes"]) parts.insert(node["op"].get<std::string>());
  for (const char* kind : {"inputs", "weights"})
    for (const json& leaf : graph.value(kind, json::array())) parts.insert(leaf["shape"].dump());
  return json(parts).dump();
}

std::vector<GeneratedTask> all_splits(std::uint64_t seed) {
  std::vector<GeneratedTask> all;
  for (const auto& [split, count] :
       {std::pair(TaskSplit::train, 400), {TaskSplit::test, 100}, {TaskSplit::validation, 40}}) {
    GenerationOptions options;
    options.count = static_cast<std::size_t>(count);
    options.seed = seed;
    options.split = split;
    for (GeneratedTask& task : generate_tasks(options)) all.push_back(std::move(task));
  }
  return all;
}

//! For each task that is not the only one, the hashes that it was given.
std::map<std::string, std::set<std::string>> hashes_of_slow_forms(const std::vector<GeneratedTask>& tasks) {
  std::map<std::string, std::vector<const GeneratedTask*>> rough;
  for (const GeneratedTask& task : tasks) rough[rough_form(task.graph_json)].push_back(&task);
  std::map<std::string, std::set<std::string>> hashes;
  for (const auto& [form, alike] : rough)
    for (const GeneratedTask* task : alike)
      if (alike.size() > 1) hashes[slow_form(task->graph_json)].insert(task->hash);
  return hashes;
}

// --- small graphs

std::string form_of(const Module& module) { return nameless_form(parse_task(graph_text(module, "some", ""), "")); }

using Values = std::map<std::string, ModuleValue>;

//! Of a graph on inputs of the same sizes, declared in this order.
std::string form_on(const std::vector<std::string>& names,
                    const std::function<ModuleValue(Module&, Values&)>& describe) {
  Module module;
  Values values;
  for (const std::string& name : names) values[name] = module.input(name, {16, 8});
  module.output(describe(module, values));
  return form_of(module);
}

ModuleValue square_plus(Module& module, const ModuleValue& squared, const ModuleValue& added) {
  return binary(module, "add", unary(module, "square", squared), added);
}

TEST(NamelessForm, IsThatOfThePairThatWasInTrainAndTest) {
  const auto of_z = form_on({"x", "z"}, [](Module& m, Values& v) { return square_plus(m, v["z"], v["x"]); });
  const auto of_y = form_on({"x", "y"}, [](Module& m, Values& v) { return square_plus(m, v["y"], v["x"]); });
  EXPECT_EQ(of_z, of_y);
}

TEST(NamelessForm, KnowsNoOrderOfLeavesNorOfOperandsThatMayBeExchanged) {
  const auto form = form_on({"x", "z"}, [](Module& m, Values& v) { return square_plus(m, v["z"], v["x"]); });
  EXPECT_EQ(form, form_on({"z", "x"}, [](Module& m, Values& v) { return square_plus(m, v["z"], v["x"]); }));
  EXPECT_EQ(form, form_on({"x", "z"}, [](Module& m, Values& v) { return square_plus(m, v["x"], v["z"]); }));
  EXPECT_EQ(form, form_on({"x", "z"},
                          [](Module& m, Values& v) { return binary(m, "add", v["x"], unary(m, "square", v["z"])); }));
}

TEST(NamelessForm, KnowsTheOrderOfDifferences) {
  const auto relu_first = [](Module& m, Values& v) { return binary(m, "sub", unary(m, "relu", v["x"]), v["y"]); };
  const auto relu_last = [](Module& m, Values& v) { return binary(m, "sub", v["y"], unary(m, "relu", v["x"])); };
  EXPECT_NE(form_on({"x", "y"}, relu_first), form_on({"x", "y"}, relu_last));
}

TEST(NamelessForm, TellsOneInputFromTwoThatAreDrawnAlike) {
  const auto with = [](const char* last) {
    return form_on({"x", "y"}, [last](Module& m, Values& v) {
      return binary(m, "mul", binary(m, "sub", v["x"], v["y"]), unary(m, "relu", v[last]));
    });
  };
  EXPECT_NE(with("x"), with("y"));
  const auto one = form_on({"x"}, [](Module& m, Values& v) { return binary(m, "mul", v["x"], v["x"]); });
  EXPECT_NE(one, form_on({"x", "y"}, [](Module& m, Values& v) { return binary(m, "mul", v["x"], v["y"]); }));
}

//! A sum of two that look alike from below, less something of `again`.
ModuleValue crossed(Module& module, Values& v, const char* first, const char* second, const char* again) {
  const ModuleValue sum = binary(module, "add", v[first], v[second]);
  return binary(module, "sub", sum, unary(module, "relu", v[again]));
}

TEST(NamelessForm, OfOperandsThatLookAlikeDependsOnTheirOtherUses) {
  const auto form = form_on({"x", "y"}, [](Module& m, Values& v) { return crossed(m, v, "x", "y", "x"); });
  EXPECT_EQ(form, form_on({"x", "y"}, [](Module& m, Values& v) { return crossed(m, v, "y", "x", "x"); }));
  EXPECT_EQ(form, form_on({"y", "x"}, [](Module& m, Values& v) { return crossed(m, v, "x", "y", "y"); }));
  EXPECT_NE(form, form_on({"x", "y", "z"}, [](Module& m, Values& v) { return crossed(m, v, "x", "y", "z"); }));
}

TEST(NamelessForm, KnowsSizesNumbersParametersAndResults) {
  const auto form = [](Shape sizes, double number, bool is_parameter, std::size_t part) {
    Module module;
    const ModuleValue x = is_parameter ? module.parameter("x", sizes) : module.input("x", sizes);
    module.output(chunk(module, with_number(module, "mul", x, number), 2)[part]);
    return form_of(module);
  };
  const std::set<std::string> different{form({8, 4}, 0.5, false, 0), form({4, 8}, 0.5, false, 0),
                                        form({8, 4}, 2.0, false, 0), form({8, 4}, 0.5, true, 0),
                                        form({8, 4}, 0.5, false, 1)};
  EXPECT_EQ(different.size(), 5u);
}

// --- generated tasks

TEST(GeneratedTasks, OfAllSplitsAreDifferentUpToNames) {
  std::vector<GeneratedTask> of_all_seeds;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::set<std::string> hashes;
    for (GeneratedTask& task : all_splits(seed)) {
      EXPECT_TRUE(hashes.insert(task.hash).second) << seed << " " << task.name;
      of_all_seeds.push_back(std::move(task));
    }
  }
  // What is one task has one hash, and so one split, whichever seed it comes from; what is not one has not.
  const auto forms = hashes_of_slow_forms(of_all_seeds);
  EXPECT_GT(forms.size(), 30u);
  std::set<std::string> hashes;
  for (const auto& [form, of_form] : forms) {
    EXPECT_EQ(of_form.size(), 1u) << form;
    for (const std::string& hash : of_form) EXPECT_TRUE(hashes.insert(hash).second) << form;
  }
}

//! Other names, leaves in another order, operands exchanged where that changes nothing.
std::string disguised(const std::string& graph_json, Random& random) {
  json graph = json::parse(graph_json);
  const auto shuffle = [&](json& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  };
  for (const char* kind : {"inputs", "weights", "state"})
    if (graph.contains(kind)) shuffle(graph[kind]);
  std::map<std::string, std::string> names;
  for (const char* kind : {"inputs", "weights", "state", "nodes"})
    for (const json& named : graph.value(kind, json::array()))
      names[named["name"]] = fmt::format("n{}_{}", random.below(1000000), names.size());
  const std::function<void(json&)> rename = [&](json& place) {
    if (place.is_array())
      for (json& element : place) rename(element);
    if (!place.is_string()) return;
    const std::string text = place, stem = text.substr(0, text.find('['));
    place = names.at(stem) + text.substr(stem.size());
  };
  for (const char* kind : {"inputs", "weights", "state"})
    if (graph.contains(kind))
      for (json& leaf : graph[kind]) rename(leaf["name"]);
  for (json& node : graph["nodes"]) {
    if (is_commutative(node) && random.below(2) == 1) std::swap(node["args"][0], node["args"][1]);
    for (const char* key : {"name", "args", "writes_state"})
      if (node.contains(key)) rename(node[key]);
  }
  rename(graph["outputs"]);
  return graph.dump();
}

TEST(NamelessForm, IsThatOfADisguisedTask) {
  GenerationOptions options;
  options.count = 350;
  options.seed = 11;
  Random random(5);
  for (const GeneratedTask& task : generate_tasks(options)) {
    const std::string other = disguised(task.graph_json, random);
    EXPECT_EQ(nameless_form(parse_task(task.graph_json, "")), nameless_form(parse_task(other, ""))) << other;
    EXPECT_EQ(slow_form(task.graph_json), slow_form(other));
  }
}

}  // namespace
}  // namespace cudal1
