#include "device/ops/op_steps.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

namespace cudal1 {

OpSteps::OpSteps(const Plan& plan, at::Device device, RandomNumbers random_numbers)
    : plan_(plan), calls_(plan.call.size()) {
  for (std::size_t i = 0; i < plan.call.size(); ++i)
    if (const auto* step = std::get_if<OpStep>(&plan.call[i]))
      calls_[i].emplace(step->node, device, /*widen=*/false, random_numbers);
  find_values_from_outside();
  plan_drops();
}

OpValues OpSteps::no_values() const {
  return {std::vector<at::Tensor>(plan_.values.size()), std::vector<at::Tensor>(plan_.buffers.size())};
}

void OpSteps::run(std::size_t step_index, OpValues& values) const {
  for (const std::size_t id : drops_[step_index].values) values.tensors[id].reset();
  for (const std::size_t buffer : drops_[step_index].buffers) values.made[buffer].reset();
  const auto lookup = [&](ValueId id) -> const at::Tensor& { return tensor_of(id, values); };
  std::vector<at::Tensor> results = (*calls_.at(step_index))(lookup);
  const Node& node = std::get<OpStep>(plan_.call[step_index]).node;
  if (results.size() < node.outputs.size())
    throw Error(fmt::format("{} gave {} results, {} expected", node.op, results.size(), node.outputs.size()));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) keep(node.outputs[i], std::move(results[i]), values);
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

//! What op steps made is freed before the first op step that comes after its last use.
void OpSteps::plan_drops() {
  drops_.resize(plan_.call.size());
  const std::vector<std::size_t> last = last_uses(plan_);
  const auto drops_after = [&](int buffer) -> Drops* {
    if (buffer < 0 || !plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op) return nullptr;
    for (std::size_t i = last[static_cast<std::size_t>(buffer)]; i < plan_.call.size(); ++i)
      if (i > last[static_cast<std::size_t>(buffer)] && calls_[i]) return &drops_[i];
    return nullptr;
  };
  for (std::size_t id = 0; id < plan_.values.size(); ++id)
    if (Drops* drops = drops_after(plan_.values[id].buffer)) drops->values.push_back(id);
  for (std::size_t buffer = 0; buffer < plan_.buffers.size(); ++buffer)
    if (Drops* drops = drops_after(static_cast<int>(buffer))) drops->buffers.push_back(buffer);
}

}  // namespace cudal1
