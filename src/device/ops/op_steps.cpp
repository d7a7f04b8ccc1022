#include "device/ops/op_steps.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

//! Operators that compute each element of the result from the same element of the first argument, and exist in place.
constexpr std::array<std::string_view, 33> pointwise_operators{
    "abs",     "add",   "ceil",  "clamp", "clamp_max", "clamp_min",   "cos",       "div",      "elu",
    "erf",     "exp",   "expm1", "floor", "gelu",      "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "log",     "log1p", "mish",  "mul",   "neg",       "reciprocal",  "relu",      "round",    "rsqrt",
    "sigmoid", "silu",  "sin",   "sqrt",  "sub",       "tanh"};

//! "aten::add.Tensor" -> "aten::add_.Tensor"; empty where that is not for us.
std::string name_in_place(const std::string& op) {
  const std::string_view base = base_name(op);
  if (std::ranges::find(pointwise_operators, base) == pointwise_operators.end()) return {};
  const std::size_t end = static_cast<std::size_t>(base.data() + base.size() - op.data());
  return fmt::format("{}_{}", op.substr(0, end), op.substr(end));
}

std::vector<std::optional<AtenCall>> resolved(const std::vector<Step>& steps, at::Device device,
                                              RandomNumbers random_numbers) {
  std::vector<std::optional<AtenCall>> calls(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const auto* step = std::get_if<OpStep>(&steps[i]))
      calls[i].emplace(step->node, device, /*widen=*/false, random_numbers);
  return calls;
}

void expect_results(const Node& node, std::size_t count) {
  if (count < node.outputs.size())
    throw Error(fmt::format("{} gave {} results, {} expected", node.op, count, node.outputs.size()));
}

const ValueRef* first_argument(const Node& node) { return argument_as<ValueRef>(node, 0, "self"); }

//! `held` and its twin among the values of the call are all there is of it: an operator may have returned what it was
//! given, which is somebody else's, or a view of that.
bool is_ours_alone(const at::Tensor& held) { return held.use_count() <= 2 && held.storage().use_count() == 1; }

//! When memory may be used again is worked out for each buffer of the plan by itself, so none may lie in another's.
void take_own_memory(at::Tensor& result) {
  if (result.defined() && (result.use_count() > 1 || result.storage().use_count() > 1)) result = result.clone();
}

}  // namespace

OpSteps::OpSteps(const Plan& plan, at::Device device, RandomNumbers random_numbers)
    : plan_(plan),
      order_(plan),
      calls_(resolved(plan.call, device, random_numbers)),
      preparing_(resolved(plan.prepare, device, random_numbers)) {
  find_values_from_outside();
  find_users();
  const std::vector<std::size_t> last = last_uses(plan_);
  plan_drops(last);
  find_steps_in_place(last, device);
}

OpValues OpSteps::no_values() const {
  return {std::vector<at::Tensor>(plan_.values.size()), std::vector<at::Tensor>(plan_.buffers.size())};
}

void OpSteps::run(std::size_t step_index, OpValues& values) const {
  for (const std::size_t id : drops_[step_index].values) values.tensors[id].reset();
  for (const std::size_t buffer : drops_[step_index].buffers) values.made[buffer].reset();
  std::vector<at::Tensor> results = call(step_index, values);
  const Node& node = std::get<OpStep>(plan_.call[step_index]).node;
  expect_results(node, results.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) keep(node.outputs[i], std::move(results[i]), values);
}

void OpSteps::prepare(std::size_t step_index, OpValues& values) const {
  const Node& node = std::get<OpStep>(plan_.prepare[step_index]).node;
  const std::vector<at::Tensor> results =
      (*preparing_.at(step_index))([&](ValueId id) -> const at::Tensor& { return tensor_of(id, values); });
  expect_results(node, results.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (plan_.values[static_cast<std::size_t>(node.outputs[i])].buffer >= 0)
      values.tensors[static_cast<std::size_t>(node.outputs[i])].copy_(results[i]);
}

std::vector<at::Tensor> OpSteps::call(std::size_t step_index, OpValues& values) const {
  const auto lookup = [&](ValueId id) -> const at::Tensor& { return tensor_of(id, values); };
  if (in_place_[step_index]) {
    const ValueId self = first_argument(std::get<OpStep>(plan_.call[step_index]).node)->id;
    if (is_ours_alone(tensor_of(self, values))) return (*in_place_[step_index])(lookup);
  }
  std::vector<at::Tensor> results = (*calls_.at(step_index))(lookup);
  const bool returns_state = !std::get<OpStep>(plan_.call[step_index]).node.writes_state.empty();
  if (!plan_.branches.empty() && !returns_state) std::ranges::for_each(results, take_own_memory);
  return results;
}

// A value outside op steps was set before the call; one inside is what the op returned, or a view of it.
const at::Tensor& OpSteps::tensor_of(ValueId id, OpValues& values) const {
  at::Tensor& tensor = values.tensors[static_cast<std::size_t>(id)];
  if (tensor.defined()) return tensor;
  const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
  const at::Tensor& made = values.made[static_cast<std::size_t>(ref.buffer)];
  const std::int64_t offset = ref.byte_offset / size_in_bytes(ref.meta.dtype);
  return tensor = made.as_strided(ref.meta.sizes, ref.meta.strides, made.storage_offset() + offset);
}

// The plan promised sizes and strides to everyone who reads the value; where the library chose another layout
// (channels-last convolutions do), copy into the promised one.
void OpSteps::keep(ValueId id, at::Tensor result, OpValues& values) const {
  const TensorRef& ref = plan_.values[static_cast<std::size_t>(id)];
  if (ref.buffer < 0) return;
  if (result.sizes() != at::IntArrayRef(ref.meta.sizes))
    throw Error("the result has other sizes than the task's graph says");
  if (result.strides() != at::IntArrayRef(ref.meta.strides)) {
    at::Tensor promised = at::empty_strided(ref.meta.sizes, ref.meta.strides, result.options());
    result = promised.copy_(result);
  }
  values.made[static_cast<std::size_t>(ref.buffer)] = result;
  values.tensors[static_cast<std::size_t>(id)] = std::move(result);
}

void OpSteps::find_values_from_outside() {
  for (std::size_t id = 0; id < plan_.values.size(); ++id)
    if (plan_.values[id].buffer >= 0 && !buffer_of(plan_.values[id]).allocated_by_op) from_outside_.push_back(id);
}

void OpSteps::find_users() {
  users_.resize(plan_.buffers.size());
  for (std::size_t i = 0; i < plan_.call.size(); ++i)
    for (const int buffer : buffers_of(plan_, plan_.call[i])) users_[static_cast<std::size_t>(buffer)].push_back(i);
}

//! May the step use the buffer's memory for something else? On another branch than the step that made it, it may not:
//! memory belongs to streams.
bool OpSteps::is_over(std::size_t buffer, std::size_t step) const {
  const std::vector<std::size_t>& users = users_[buffer];
  return !users.empty() && order_.branch_of(users.front()) == order_.branch_of(step) &&
         std::ranges::all_of(users, [&](std::size_t user) { return user == step || order_.is_before(user, step); });
}

//! What op steps made is freed before the first op step that comes after its last use.
void OpSteps::plan_drops(const std::vector<std::size_t>& last) {
  drops_.resize(plan_.call.size());
  const auto drops_after = [&](int buffer) -> Drops* {
    if (buffer < 0 || !plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op) return nullptr;
    for (std::size_t i = last[static_cast<std::size_t>(buffer)]; i < plan_.call.size(); ++i)
      if (i > last[static_cast<std::size_t>(buffer)] && calls_[i] && is_over(static_cast<std::size_t>(buffer), i))
        return &drops_[i];
    return nullptr;
  };
  for (std::size_t id = 0; id < plan_.values.size(); ++id)
    if (Drops* drops = drops_after(plan_.values[id].buffer)) drops->values.push_back(id);
  for (std::size_t buffer = 0; buffer < plan_.buffers.size(); ++buffer)
    if (Drops* drops = drops_after(static_cast<int>(buffer))) drops->buffers.push_back(buffer);
}

//! Nobody needs the first argument any more, and the result fits in its place.
bool OpSteps::may_overwrite(const OpStep& step, const std::function<bool(int buffer)>& is_last_use) const {
  const ValueRef* self = first_argument(step.node);
  if (!self || self->id < 0 || step.node.outputs.size() != 1) return false;
  const TensorRef& from = plan_.values[static_cast<std::size_t>(self->id)];
  const TensorRef& to = plan_.values[static_cast<std::size_t>(step.node.outputs[0])];
  if (from.buffer < 0 || to.buffer < 0 || from.buffer == to.buffer || !is_last_use(from.buffer)) return false;
  const std::vector<ValueId> read = OpGraph::reads(step.node);
  const auto shares_memory = [&](ValueId id) {
    return plan_.values[static_cast<std::size_t>(id)].buffer == from.buffer;
  };
  return buffer_of(from).allocated_by_op && buffer_of(to).allocated_by_op && is_whole(from, buffer_of(from)) &&
         from.meta == to.meta && std::ranges::count_if(read, shares_memory) == 1;
}

//! As modules do that save memory: what is read and written in one place stays in the device's caches.
void OpSteps::find_steps_in_place(const std::vector<std::size_t>& last, at::Device device) {
  in_place_.resize(plan_.call.size());
  for (std::size_t i = 0; i < plan_.call.size(); ++i) {
    const auto* step = std::get_if<OpStep>(&plan_.call[i]);
    if (!step) continue;
    Node node = step->node;
    node.op = name_in_place(node.op);
    const auto is_last_use = [&](int buffer) {
      return last[static_cast<std::size_t>(buffer)] == i && is_over(static_cast<std::size_t>(buffer), i);
    };
    if (node.op.empty() || !may_overwrite(*step, is_last_use)) continue;
    node.writes_state = {first_argument(node)->id};
    try {
      in_place_[i].emplace(node, device, /*widen=*/false);
    } catch (const Error&) {  // not every overload exists in place
    }
  }
}

}  // namespace cudal1
