#include "tasks/module.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {
namespace {

using nlohmann::ordered_json;

//! How many of this kind there are, this one included.
int count_one(std::vector<std::pair<std::string, int>>& counts, const std::string& kind) {
  const auto found = std::ranges::find(counts, kind, &std::pair<std::string, int>::first);
  if (found != counts.end()) return ++found->second;
  counts.emplace_back(kind, 1);
  return 1;
}

//! "aten::add_.Tensor" is called add.
std::string stem_of(const std::string& op) {
  const std::size_t begin = op.find("::") + 2;
  std::string stem = op.substr(begin, op.find('.', begin) - begin);
  if (stem.ends_with('_')) stem.pop_back();
  return stem;
}

}  // namespace

void Module::name_size(const std::string& name, std::int64_t value) {
  const auto has_it = [&](const NamedSize& size) { return size.value == value && !size.only_inputs; };
  if (std::ranges::none_of(sizes_, has_it)) sizes_.push_back({name, value});
}

void Module::name_extent(const std::string& name, std::int64_t value) { sizes_.push_back({name, value, true}); }

std::string Module::size_text(std::int64_t value) {
  const auto is_it = [&](const NamedSize& size) { return size.value == value && !size.only_inputs; };
  const auto named = std::ranges::find_if(sizes_, is_it);
  if (named == sizes_.end()) return std::to_string(value);
  named->constructs = true;
  return named->name;
}

ModuleValue Module::add_value(const std::string& name, Shape sizes) {
  values_.push_back({static_cast<int>(values_.size()), name, std::move(sizes), NumberRange::both_signs});
  return values_.back();
}

ModuleValue Module::input(const std::string& name, Shape sizes, Draw draw) {
  inputs_.push_back({name, DType::f32, sizes, draw});
  return add_value(name, std::move(sizes));
}

ModuleValue Module::parameter(const std::string& name, Shape sizes) {
  for (const std::int64_t size : sizes) size_text(size);  // the constructor makes it
  parameters_.push_back({name, DType::f32, sizes, {}});
  return add_value(name, std::move(sizes));
}

const ModuleLayer& Module::layer(const std::string& kind, const std::string& constructor,
                                 std::vector<ModuleLeaf> weights, std::vector<ModuleLeaf> states) {
  // Without an underscore, so that no layer is called like a node.
  const std::string attribute = fmt::format("{}{}", kind, count_one(counts_, kind + " layer"));
  for (std::vector<ModuleLeaf>* leaves : {&weights, &states})
    for (ModuleLeaf& leaf : *leaves) leaf.name = fmt::format("{}.{}", attribute, leaf.name);
  layers_.push_back({attribute, constructor, std::move(weights), std::move(states)});
  return layers_.back();
}

std::string Module::node(const std::string& op, ordered_json args, ordered_json kwargs,
                         const std::vector<std::string>& writes_state) {
  const std::string stem = stem_of(op);
  const std::string name = fmt::format("{}_{}", stem, count_one(counts_, stem));
  ordered_json made{{"name", name}, {"op", op}, {"args", std::move(args)}};
  if (!kwargs.empty()) made["kwargs"] = std::move(kwargs);
  if (!writes_state.empty()) made["writes_state"] = writes_state;
  pending_.push_back(std::move(made));
  return name;
}

std::vector<ModuleValue> Module::statement(const std::string& python, const std::vector<ModuleValue>& reads,
                                           const std::vector<std::pair<std::string, Shape>>& results) {
  ModuleStatement made;
  made.python = python;
  for (const ModuleValue& read : reads) made.reads.push_back(read.id);
  made.nodes = std::move(pending_);
  pending_.clear();
  std::vector<ModuleValue> values;
  for (const auto& [name, sizes] : results) values.push_back(add_value(name, sizes));
  for (const ModuleValue& value : values) made.results.push_back(value.id);
  statements_.push_back(std::move(made));
  return values;
}

ModuleValue Module::statement(const std::string& python, const std::vector<ModuleValue>& reads,
                              const std::string& result, Shape sizes) {
  return statement(python, reads, {{result, std::move(sizes)}}).front();
}

bool Module::is_read(const ModuleValue& value) const {
  return std::ranges::any_of(statements_, [&](const ModuleStatement& statement) {
    return std::ranges::find(statement.reads, value.id) != statement.reads.end();
  });
}

std::size_t Module::node_count() const {
  std::size_t count = 0;
  for (const ModuleStatement& statement : statements_) count += statement.nodes.size();
  return count;
}

}  // namespace cudal1
