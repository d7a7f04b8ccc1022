#include "package/package_format.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

namespace cudal1 {
namespace {

using Json = nlohmann::json;
constexpr std::string_view format_name = "cudal1.package";
constexpr int format_version = 3;

std::vector<PackagedLeaf> leaves_of(const OpGraph& graph, const Plan& plan, const std::vector<ValueId>& ids) {
  std::vector<PackagedLeaf> leaves;
  for (const ValueId id : ids) {
    const Value& value = graph.values[static_cast<std::size_t>(id)];
    leaves.push_back({value.name, value.meta, id, plan.values[static_cast<std::size_t>(id)].buffer});
  }
  return leaves;
}

Json to_json(const std::vector<PackagedLeaf>& leaves) {
  Json list = Json::array();
  for (const PackagedLeaf& leaf : leaves) {
    list.push_back({{"name", leaf.name},
                    {"dtype", to_string(leaf.meta.dtype)},
                    {"sizes", leaf.meta.sizes},
                    {"strides", leaf.meta.strides},
                    {"value", leaf.value},
                    {"buffer", leaf.buffer}});
    if (leaf.is_constant) list.back()["constant"] = true;
  }
  return list;
}

std::vector<PackagedLeaf> leaves_from(const Json& list) {
  std::vector<PackagedLeaf> leaves;
  for (const Json& entry : list) {
    const auto dtype = dtype_from_string(entry.at("dtype").get<std::string>());
    if (!dtype) throw Error("a leaf has a dtype that does not exist");
    leaves.push_back({entry.at("name").get<std::string>(),
                      {*dtype, entry.at("sizes").get<std::vector<std::int64_t>>(),
                       entry.at("strides").get<std::vector<std::int64_t>>()},
                      entry.at("value").get<int>(),
                      entry.at("buffer").get<int>(),
                      entry.value("constant", false)});
  }
  return leaves;
}

}  // namespace

PackagedPlan packaged(const Task& task, const Plan& plan, const std::map<std::string, std::string>& symbols) {
  return {task.name,
          "",
          "",
          plan,
          leaves_of(task.graph, plan, task.graph.inputs),
          leaves_of(task.graph, plan, task.graph.weights),
          leaves_of(task.graph, plan, task.graph.states),
          symbols};
}

bool runs_without_library(const Plan& plan) {
  std::set<int> seen;
  for (const ValueId id : plan.outputs) {
    const TensorRef& ref = plan.values[static_cast<std::size_t>(id)];
    if (ref.buffer < 0 || !seen.insert(ref.buffer).second) return false;
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(ref.buffer)];
    if (buffer.role != BufferRole::output || !is_whole(ref, buffer)) return false;
  }
  return !plan.has_op_steps();
}

Json format_json() { return {{"format", format_name}, {"version", format_version}}; }

void check_format(const Json& package) {
  if (package.at("format") != format_name || package.at("version") != format_version)
    throw Error(fmt::format("not a {} of version {}", format_name, format_version));
}

Json to_json(const PackagedPlan& packaged) {
  return {{"task", packaged.task},
          {"sizes", packaged.sizes},
          {"folder", packaged.folder},
          {"plan", plan_to_json(packaged.plan)},
          {"inputs", to_json(packaged.inputs)},
          {"weights", to_json(packaged.weights)},
          {"states", to_json(packaged.states)},
          {"symbols", packaged.symbols}};
}

PackagedPlan packaged_plan_from_json(const Json& json) try {
  return {json.at("task").get<std::string>(),   json.at("sizes").get<std::string>(),
          json.at("folder").get<std::string>(), plan_from_json(json.at("plan")),
          leaves_from(json.at("inputs")),       leaves_from(json.at("weights")),
          leaves_from(json.at("states")),       json.at("symbols").get<std::map<std::string, std::string>>()};
} catch (const Json::exception& problem) {
  throw Error(fmt::format("not a package: {}", problem.what()));
}

}  // namespace cudal1
