#include "tasks/module_text.hpp"

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

namespace cudal1 {
namespace {

using Texts = std::vector<std::string>;

//! Sizes by name where they have one. Of several names for the same number the next that is free: a square input is
//! (rows, columns), not (rows, rows).
std::string shape_text(const Module& module, const Shape& sizes, bool of_input) {
  Texts texts;
  for (const std::int64_t size : sizes) {
    Texts names;
    for (const NamedSize& named : module.sizes())
      if (named.value == size && (of_input || !named.only_inputs)) names.push_back(named.name);
    const auto is_free = [&](const std::string& name) { return std::ranges::find(texts, name) == texts.end(); };
    const auto free = std::ranges::find_if(names, is_free);
    texts.push_back(free != names.end() ? *free : names.empty() ? std::to_string(size) : names.front());
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Texts constructor_arguments(const Module& module) {
  Texts names;
  for (const NamedSize& size : module.sizes())
    if (size.constructs) names.push_back(size.name);
  return names;
}

//! Gives every value a variable: a line writes over the variable that it is the last to read, as people do.
class Variables {
 public:
  explicit Variables(const Module& module) : module_(module), names_(module.values().size()) {
    for (const ModuleValue& value : module.values()) {
      if (is_parameter(value.name)) names_[value.id] = "self." + value.name;
      if (is_input(value.name)) take(value.id, value.name);
    }
  }

  //! To be asked line by line.
  std::string line(std::size_t index) {
    const ModuleStatement& statement = module_.statements()[index];
    fmt::dynamic_format_arg_store<fmt::format_context> reads;
    for (const int read : statement.reads) reads.push_back(names_[read]);
    const std::string expression = fmt::vformat(statement.python, reads);
    std::set<std::string> ending = ending_at(index);
    Texts results;
    for (const int result : statement.results) results.push_back(take(result, variable_for(statement, ending)));
    return fmt::format("{} = {}", fmt::join(results, ", "), expression);
  }

  const std::string& of(int value) const { return names_[value]; }

 private:
  bool is_parameter(const std::string& name) const {
    return std::ranges::find(module_.parameters(), name, &ModuleLeaf::name) != module_.parameters().end();
  }
  bool is_input(const std::string& name) const {
    return std::ranges::find(module_.inputs(), name, &ModuleLeaf::name) != module_.inputs().end();
  }

  std::string take(int value, const std::string& name) {
    used_.insert(name);
    return names_[value] = name;
  }

  std::size_t last_read(int value) const {
    if (std::ranges::find(module_.outputs(), value) != module_.outputs().end())
      return std::numeric_limits<std::size_t>::max();
    std::size_t last = 0;
    for (std::size_t i = 0; i < module_.statements().size(); ++i)
      if (std::ranges::find(module_.statements()[i].reads, value) != module_.statements()[i].reads.end()) last = i;
    return last;
  }

  std::set<std::string> ending_at(std::size_t index) const {
    std::set<std::string> ending;
    for (const int read : module_.statements()[index].reads)
      if (!names_[read].starts_with("self.") && last_read(read) == index) ending.insert(names_[read]);
    return ending;
  }

  std::string variable_for(const ModuleStatement& statement, std::set<std::string>& ending) const {
    for (const int read : statement.reads)
      if (ending.erase(names_[read]) > 0) return names_[read];
    for (const char* name : {"y", "z", "h", "u", "v", "w", "p", "q", "r", "s", "t", "a", "b", "c", "d", "e", "g"})
      if (!used_.contains(name)) return name;
    return fmt::format("t{}", used_.size());
  }

  const Module& module_;
  Texts names_;
  std::set<std::string> used_;
};

std::string constructor_text(const Module& module) {
  Texts parameters{"self"};
  for (const std::string& name : constructor_arguments(module)) parameters.push_back(name + ": int");
  std::string text =
      fmt::format("    def __init__({}) -> None:\n        super().__init__()\n", fmt::join(parameters, ", "));
  for (const ModuleLeaf& leaf : module.parameters())
    text += fmt::format("        self.{} = nn.Parameter(torch.randn({}))\n", leaf.name,
                        shape_text(module, leaf.sizes, false));
  for (const ModuleLayer& layer : module.layers())
    text += fmt::format("        self.{} = {}\n", layer.attribute, layer.constructor);
  return text;
}

std::string forward_text(const Module& module) {
  Texts parameters{"self"}, results;
  for (const ModuleLeaf& input : module.inputs()) parameters.push_back(input.name);
  std::string text = fmt::format("    def forward({}):\n", fmt::join(parameters, ", "));
  Variables variables(module);
  for (std::size_t i = 0; i < module.statements().size(); ++i) text += fmt::format("        {}\n", variables.line(i));
  for (const int output : module.outputs()) results.push_back(variables.of(output));
  return text + fmt::format("        return {}\n", fmt::join(results, ", "));
}

std::string input_text(const Module& module, const ModuleLeaf& input) {
  const char* draw = input.draw.kind == Draw::Kind::uniform ? "rand" : "randn";
  return fmt::format("torch.{}({})", draw, shape_text(module, input.sizes, true));
}

std::string inputs_text(const Module& module) {
  Texts inputs;
  for (const ModuleLeaf& input : module.inputs()) inputs.push_back(input_text(module, input));
  return fmt::format("def get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return [{}]\n",
                     fmt::join(inputs, ", "), fmt::join(constructor_arguments(module), ", "));
}

//! Only those that something refers to.
std::string sizes_text(const Module& module) {
  std::set<std::int64_t> referred;
  for (const ModuleLeaf& input : module.inputs()) referred.insert(input.sizes.begin(), input.sizes.end());
  std::string text;
  for (const NamedSize& size : module.sizes())
    if (size.constructs || referred.contains(size.value)) text += fmt::format("{} = {}\n", size.name, size.value);
  return text.empty() ? text : text + "\n\n";
}

}  // namespace

std::string python_text(const Module& module) {
  const std::string forward = forward_text(module);
  const bool functional = forward.find(" F.") != std::string::npos;
  return fmt::format("import torch\n{}from torch import nn\n\n\nclass Model(nn.Module):\n",
                     functional ? "import torch.nn.functional as F\n" : "") +
         constructor_text(module) + "\n" + forward + "\n\n" + sizes_text(module) + inputs_text(module);
}

}  // namespace cudal1
