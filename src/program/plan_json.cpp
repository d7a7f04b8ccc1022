// Plans as JSON: how the judge hands one to a runner and how `expand` shows it. docs/program.md describes the fields.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "program/plan.hpp"
#include "program/step_branches.hpp"

namespace cudal1 {
namespace {

using Json = nlohmann::json;
constexpr int plan_version = 1;

[[noreturn]] void not_a_plan(const std::string& reason) { throw Error("not a plan: " + reason); }

constexpr std::array<std::string_view, 7> role_names = {"input",        "weight",  "state",   "output",
                                                        "intermediate", "scratch", "prepared"};

BufferRole role_from(const std::string& name) {
  for (std::size_t i = 0; i < role_names.size(); ++i) {
    if (role_names[i] == name) return static_cast<BufferRole>(i);
  }
  not_a_plan(fmt::format("there is no buffer role '{}'", name));
}

DType dtype_from(const Json& json) {
  const std::optional<DType> dtype = dtype_from_string(json.get<std::string>());
  if (!dtype) not_a_plan(fmt::format("there is no dtype '{}'", json.get<std::string>()));
  return *dtype;
}

Json meta_to_json(const TensorMeta& meta) {
  return {{"dtype", to_string(meta.dtype)}, {"sizes", meta.sizes}, {"strides", meta.strides}};
}

TensorMeta meta_from(const Json& json) {
  TensorMeta meta{dtype_from(json.at("dtype")), json.at("sizes").get<std::vector<std::int64_t>>(),
                  json.at("strides").get<std::vector<std::int64_t>>()};
  if (meta.sizes.size() != meta.strides.size()) not_a_plan("sizes and strides differ in length");
  return meta;
}

//! JSON has no infinities, and a NaN must keep its bits.
Json real_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("nan:{:016x}", std::bit_cast<std::uint64_t>(value));
}

double real_from(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (!text.starts_with("nan:") || text.size() != 20) not_a_plan(fmt::format("'{}' is not a number", text));
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::stoull(text.substr(4), nullptr, 16)));
}

// Arguments of a node carry their type as the only key, since 1 and 1.0 differ for an operator.
Json argument_to_json(const NoArgument&) { return nullptr; }
Json argument_to_json(const ValueRef& ref) { return {{"value", ref.id}}; }
Json argument_to_json(bool value) { return {{"bool", value}}; }
Json argument_to_json(std::int64_t value) { return {{"int", value}}; }
Json argument_to_json(double value) { return {{"float", real_to_json(value)}}; }
Json argument_to_json(const std::string& value) { return {{"string", value}}; }
Json argument_to_json(const DTypeArgument& value) {
  return {{"dtype", {{"name", to_string(value.dtype)}, {"compute", value.compute}}}};
}
Json argument_to_json(const std::vector<std::int64_t>& values) { return {{"ints", values}}; }
Json argument_to_json(const std::vector<bool>& values) { return {{"bools", values}}; }
Json argument_to_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(real_to_json(value));
  return {{"floats", list}};
}
Json argument_to_json(const ValueList& refs) {
  Json list = Json::array();
  for (const ValueRef& ref : refs) list.push_back(ref.id);
  return {{"values", list}};
}

Argument argument_from(const Json& json) {
  if (json.is_null()) return NoArgument{};
  if (!json.is_object() || json.size() != 1) not_a_plan("an argument must be null or an object with one key");
  const auto entry = json.begin();
  const std::string& kind = entry.key();
  const Json& content = entry.value();
  if (kind == "value") return ValueRef{content.get<int>()};
  if (kind == "bool") return content.get<bool>();
  if (kind == "int") return content.get<std::int64_t>();
  if (kind == "float") return real_from(content);
  if (kind == "string") return content.get<std::string>();
  if (kind == "dtype") return DTypeArgument{dtype_from(content.at("name")), content.at("compute").get<bool>()};
  if (kind == "ints") return content.get<std::vector<std::int64_t>>();
  if (kind == "bools") return content.get<std::vector<bool>>();
  if (kind == "floats") {
    std::vector<double> values;
    for (const Json& value : content) values.push_back(real_from(value));
    return values;
  }
  if (kind != "values") not_a_plan(fmt::format("there is no argument of kind '{}'", kind));
  ValueList refs;
  for (const Json& id : content) refs.push_back({id.get<int>()});
  return refs;
}

Json any_argument_to_json(const Argument& argument) {
  return std::visit([](const auto& content) { return argument_to_json(content); }, argument);
}

Json node_to_json(const Node& node) {
  Json args = Json::array();
  for (const Argument& argument : node.args) args.push_back(any_argument_to_json(argument));
  Json kwargs = Json::array();  // an array: their order is part of the node
  for (const auto& [name, argument] : node.kwargs)
    kwargs.push_back(Json::array({name, any_argument_to_json(argument)}));
  return {{"name", node.name}, {"op", node.op},           {"args", args},
          {"kwargs", kwargs},  {"outputs", node.outputs}, {"writes_state", node.writes_state}};
}

Node node_from(const Json& json) {
  Node node;
  node.name = json.at("name").get<std::string>();
  node.op = json.at("op").get<std::string>();
  for (const Json& argument : json.at("args")) node.args.push_back(argument_from(argument));
  for (const Json& pair : json.at("kwargs"))
    node.kwargs.emplace_back(pair.at(0).get<std::string>(), argument_from(pair.at(1)));
  node.outputs = json.at("outputs").get<std::vector<ValueId>>();
  node.writes_state = json.at("writes_state").get<std::vector<ValueId>>();
  return node;
}

Json ref_to_json(const TensorRef& ref) {
  return {{"buffer", ref.buffer}, {"byte_offset", ref.byte_offset}, {"meta", meta_to_json(ref.meta)}};
}

TensorRef ref_from(const Json& json) {
  return {json.at("buffer").get<int>(), json.at("byte_offset").get<std::int64_t>(), meta_from(json.at("meta"))};
}

Json kernel_argument_to_json(const KernelArgument& argument) {
  if (const auto* ref = std::get_if<TensorRef>(&argument)) return {{"tensor", ref_to_json(*ref)}};
  const auto& scalar = std::get<ScalarArgument>(argument);
  return {{"scalar", {{"type", scalar.type}, {"bits", scalar.bits}, {"size_bytes", scalar.size_bytes}}}};
}

KernelArgument kernel_argument_from(const Json& json) {
  if (json.contains("tensor")) return ref_from(json.at("tensor"));
  const Json& scalar = json.at("scalar");
  ScalarArgument argument{scalar.at("type").get<std::string>(), scalar.at("bits").get<std::uint64_t>(),
                          scalar.at("size_bytes").get<int>()};
  if (argument.size_bytes != 4 && argument.size_bytes != 8) not_a_plan("a scalar has 4 or 8 bytes");
  return argument;
}

Json step_to_json(const LaunchStep& step) {
  Json args = Json::array();
  for (const KernelArgument& argument : step.args) args.push_back(kernel_argument_to_json(argument));
  return {{"launch", step.kernel},
          {"grid", step.grid},
          {"block", step.block},
          {"cluster", step.cluster ? Json(*step.cluster) : Json(nullptr)},
          {"shared_bytes", step.shared_bytes},
          {"args", args},
          {"at", {{"line", step.at.line}, {"column", step.at.column}}}};
}
Json step_to_json(const OpStep& step) { return {{"node", node_to_json(step.node)}}; }
Json step_to_json(const ZeroStep& step) { return {{"zero", step.buffer}}; }

LaunchStep launch_from(const Json& json) {
  LaunchStep step;
  step.kernel = json.at("launch").get<std::string>();
  step.grid = json.at("grid").get<Dim3>();
  step.block = json.at("block").get<Dim3>();
  if (!json.at("cluster").is_null()) step.cluster = json.at("cluster").get<Dim3>();
  step.shared_bytes = json.at("shared_bytes").get<std::int64_t>();
  for (const Json& argument : json.at("args")) step.args.push_back(kernel_argument_from(argument));
  step.at = {json.at("at").at("line").get<int>(), json.at("at").at("column").get<int>()};
  return step;
}

Step step_from(const Json& json) {
  if (json.contains("launch")) return launch_from(json);
  if (json.contains("node")) return OpStep{node_from(json.at("node"))};
  if (json.contains("zero")) return ZeroStep{json.at("zero").get<int>()};
  not_a_plan("a step must have 'launch', 'node' or 'zero'");
}

Json steps_to_json(const std::vector<Step>& steps) {
  Json list = Json::array();
  for (const Step& step : steps)
    list.push_back(std::visit([](const auto& content) { return step_to_json(content); }, step));
  return list;
}

std::vector<Step> steps_from(const Json& json) {
  std::vector<Step> steps;
  for (const Json& step : json) steps.push_back(step_from(step));
  return steps;
}

Json buffer_to_json(const Buffer& buffer) {
  return {{"name", buffer.name},
          {"role", role_names[static_cast<std::size_t>(buffer.role)]},
          {"meta", meta_to_json(buffer.meta)},
          {"zero", buffer.zero},
          {"allocated_by_op", buffer.allocated_by_op}};
}

Buffer buffer_from(const Json& json) {
  return {json.at("name").get<std::string>(), role_from(json.at("role").get<std::string>()), meta_from(json.at("meta")),
          json.at("zero").get<bool>(), json.at("allocated_by_op").get<bool>()};
}

//! Every index of a plan points at something, so that whoever runs it need not look.
class IndexCheck {
 public:
  explicit IndexCheck(const Plan& plan) : plan_(plan) {}

  void run() const {
    for (const TensorRef& value : plan_.values) {
      if (value.buffer != -1) check_ref(value);
    }
    for (const ValueId output : plan_.outputs) check_value(output);
    for (const std::vector<Step>* steps : {&plan_.prepare, &plan_.call}) {
      for (const Step& step : *steps) std::visit([this](const auto& content) { check_step(content); }, step);
    }
  }

 private:
  void check_buffer(int buffer) const {
    if (buffer < 0 || static_cast<std::size_t>(buffer) >= plan_.buffers.size())
      not_a_plan(fmt::format("there is no buffer {}", buffer));
  }

  //! A view may reinterpret its base but never reach outside it.
  void check_ref(const TensorRef& ref) const {
    check_buffer(ref.buffer);
    const std::int64_t span = plan_.buffers[ref.buffer].meta.span_bytes();
    if (ref.byte_offset < 0 || ref.byte_offset > span || ref.meta.span_bytes() > span - ref.byte_offset)
      not_a_plan(fmt::format("a tensor reaches outside buffer {}", ref.buffer));
  }

  void check_value(ValueId id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= plan_.values.size() || plan_.values[id].buffer < 0)
      not_a_plan(fmt::format("there is no value {}", id));
  }

  void check_step(const LaunchStep& step) const {
    for (std::size_t i = 0; i < 3; ++i) {
      if (step.grid[i] < 1 || step.block[i] < 1 || (step.cluster && (*step.cluster)[i] < 1))
        not_a_plan("grid, block and cluster must be at least 1");
    }
    for (const KernelArgument& argument : step.args) {
      if (const auto* ref = std::get_if<TensorRef>(&argument)) check_ref(*ref);
    }
  }

  void check_step(const OpStep& step) const {
    for (const Argument& argument : step.node.args) check_argument(argument);
    for (const auto& [name, argument] : step.node.kwargs) check_argument(argument);
    for (const ValueId output : step.node.outputs) check_value(output);
    for (const ValueId state : step.node.writes_state) check_value(state);
  }

  void check_step(const ZeroStep& step) const { check_buffer(step.buffer); }

  void check_argument(const Argument& argument) const {
    const auto check = [this](const ValueRef& ref) {
      if (ref.id != -1) check_value(ref.id);
    };
    if (const auto* ref = std::get_if<ValueRef>(&argument)) check(*ref);
    if (const auto* refs = std::get_if<ValueList>(&argument)) {
      for (const ValueRef& ref : *refs) check(ref);
    }
  }

  const Plan& plan_;
};

Json branches_to_json(const std::vector<BranchStep>& branches) {
  Json list = Json::array();
  for (const BranchStep& step : branches) list.push_back({{"branch", step.branch}, {"waits_for", step.waits_for}});
  return list;
}

std::vector<BranchStep> branches_from(const Json& json, std::size_t steps) {
  std::vector<BranchStep> branches;
  for (const Json& step : json) {
    BranchStep& made = branches.emplace_back(
        BranchStep{step.at("branch").get<int>(), step.at("waits_for").get<std::vector<std::size_t>>()});
    if (made.branch < 0 || made.branch >= most_graph_branches) not_a_plan("there is no such branch");
    for (const std::size_t earlier : made.waits_for)
      if (earlier + 1 >= branches.size()) not_a_plan("a step waits for one that is not before it");
  }
  if (branches.size() != steps) not_a_plan("every step of a call has its branch, or none");
  return branches;
}

Plan read_plan(const Json& json) {
  if (json.at("version").get<int>() != plan_version)
    not_a_plan(fmt::format("its version is {}, this program reads {}", json.at("version").dump(), plan_version));
  Plan plan;
  for (const Json& buffer : json.at("buffers")) plan.buffers.push_back(buffer_from(buffer));
  for (const Json& value : json.at("values")) plan.values.push_back(value.is_null() ? TensorRef{} : ref_from(value));
  plan.prepare = steps_from(json.at("prepare"));
  plan.call = steps_from(json.at("call"));
  plan.outputs = json.at("outputs").get<std::vector<ValueId>>();
  plan.cuda_graph = json.at("cuda_graph").get<bool>();
  if (json.contains("branches")) plan.branches = branches_from(json.at("branches"), plan.call.size());
  plan.kernels = json.at("kernels").get<std::vector<std::string>>();
  plan.code = json.at("code").get<std::string>();
  plan.hash = json.at("hash").get<std::string>();
  IndexCheck(plan).run();
  return plan;
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  Json buffers = Json::array();
  for (const Buffer& buffer : plan.buffers) buffers.push_back(buffer_to_json(buffer));
  Json values = Json::array();
  for (const TensorRef& value : plan.values) values.push_back(value.buffer < 0 ? Json(nullptr) : ref_to_json(value));
  Json made{{"version", plan_version},
            {"buffers", buffers},
            {"values", values},
            {"prepare", steps_to_json(plan.prepare)},
            {"call", steps_to_json(plan.call)},
            {"outputs", plan.outputs},
            {"cuda_graph", plan.cuda_graph},
            {"kernels", plan.kernels},
            {"code", plan.code},
            {"hash", plan.hash}};
  if (!plan.branches.empty()) made["branches"] = branches_to_json(plan.branches);
  return made;
}

Plan plan_from_json(const Json& json) {
  try {
    return read_plan(json);
  } catch (const Json::exception& problem) {
    not_a_plan(problem.what());
  } catch (const std::logic_error& problem) {  // std::stoull
    not_a_plan(problem.what());
  }
}

}  // namespace cudal1
