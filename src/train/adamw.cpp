#include "train/adamw.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <set>

#include "base/result.hpp"
#include "graph/safetensors.hpp"
#include "graph/safetensors_writer.hpp"

namespace cudal1 {
namespace {

void require_usable(const std::string& name, const at::Tensor& parameter, const at::Device& device) {
  if (!parameter.is_leaf() || !parameter.is_contiguous() || !parameter.is_floating_point())
    throw Error(fmt::format("{} cannot be trained: it is no contiguous leaf of floating-point numbers", name));
  if (parameter.device() != device)
    throw Error(fmt::format("{} is on {}, others are on {}: an optimiser trains parameters of one device", name,
                            parameter.device().str(), device.str()));
}

std::vector<std::int64_t> sizes_of(const at::Tensor& tensor) { return tensor.sizes().vec(); }

//! Shaped like `like`, on the processor.
at::Tensor stored_tensor(const SafetensorsFile& file, const std::string& name, const at::Tensor& like,
                         const std::filesystem::path& path) {
  const StoredTensor* stored = file.find(name);
  if (stored == nullptr)
    throw Error(fmt::format("{}: this is the state of other parameters: no {}", path.string(), name));
  if (stored->meta.dtype != DType::f32 || stored->meta.sizes != sizes_of(like))
    throw Error(
        fmt::format("{}: {} is {}, which is another parameter's", path.string(), name, to_string(stored->meta)));
  at::Tensor tensor = at::empty(like.sizes(), at::kFloat);
  std::memcpy(tensor.mutable_data_ptr(), stored->bytes.data(), stored->bytes.size());
  return tensor;
}

}  // namespace

AdamW::AdamW(std::vector<ParameterGroup> groups, const AdamWOptions& options) : options_(options) {
  std::set<std::string> names;
  std::optional<at::Device> device;
  for (ParameterGroup& group : groups) {
    Group& made = groups_.emplace_back(Group{group.learning_rate_factor, group.weight_decay, {}});
    for (auto& [name, parameter] : group.parameters) {
      if (!names.insert(name).second) throw Error(fmt::format("{} is in two groups of parameters", name));
      if (!device) device = parameter.device();
      require_usable(name, parameter, *device);
      const at::Tensor values = parameter.detach();
      const at::Tensor copy = values.to(at::kFloat);  // shares memory where it is fp32
      made.trained.push_back(
          {name, parameter, copy, at::zeros_like(copy), at::zeros_like(copy), at::zeros({}, copy.options())});
    }
  }
}

std::vector<at::Tensor> AdamW::gradients() const {
  std::vector<at::Tensor> found;
  for (const Group& group : groups_)
    for (const Trained& trained : group.trained)
      if (trained.parameter.grad().defined()) found.push_back(trained.parameter.grad());
  return found;
}

void AdamW::clear_gradients() {
  for (Group& group : groups_)
    for (Trained& trained : group.trained) trained.parameter.mutable_grad() = at::Tensor();
}

void AdamW::step(double learning_rate, const at::Tensor& norm) {
  const at::NoGradGuard no_grad;
  const at::Tensor skips = norm.defined() ? at::isfinite(norm).logical_not().to(at::kFloat) : at::Tensor();
  for (Group& group : groups_) step(group, learning_rate * group.learning_rate_factor, skips);
}

void AdamW::step(Group& group, double learning_rate, const at::Tensor& skips) const {
  std::vector<at::Tensor> copies, gradients, means, squares, steps, narrow, wide;
  for (Trained& trained : group.trained) {
    const at::Tensor& gradient = trained.parameter.grad();
    if (!gradient.defined()) continue;
    copies.push_back(trained.copy);
    gradients.push_back(gradient.to(at::kFloat).contiguous());
    means.push_back(trained.mean);
    squares.push_back(trained.square);
    steps.push_back(trained.steps);
    if (trained.parameter.scalar_type() == at::kFloat) continue;
    narrow.push_back(trained.parameter.detach());
    wide.push_back(trained.copy);
  }
  if (copies.empty()) return;
  at::_foreach_add_(steps, 1);
  const std::optional<at::Tensor> found_not_finite = skips.defined() ? std::optional(skips) : std::nullopt;
  at::_fused_adamw_(copies, gradients, means, squares, /*max_exp_avg_sqs=*/{}, steps, learning_rate, options_.beta1,
                    options_.beta2, group.weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                    /*grad_scale=*/std::nullopt, found_not_finite);
  if (skips.defined()) at::_foreach_sub_(steps, std::vector<at::Tensor>(steps.size(), skips));  // it was none
  if (!narrow.empty()) at::_foreach_copy_(narrow, wide);
}

std::map<std::string, at::Tensor> AdamW::state_of(const Trained& trained) {
  std::map<std::string, at::Tensor> made{{trained.name + "#mean", trained.mean},
                                         {trained.name + "#square", trained.square},
                                         {trained.name + "#steps", trained.steps}};
  if (trained.parameter.scalar_type() != at::kFloat) made[trained.name + "#copy"] = trained.copy;
  return made;
}

std::map<std::string, at::Tensor> AdamW::state() const {
  std::map<std::string, at::Tensor> all;
  for (const Group& group : groups_)
    for (const Trained& trained : group.trained) all.merge(state_of(trained));
  return all;
}

void AdamW::save(const std::filesystem::path& file) const {
  std::vector<at::Tensor> on_processor;  // keeps what is written alive
  std::vector<WrittenTensor> written;
  for (const auto& [name, tensor] : state()) {
    on_processor.push_back(tensor.cpu());
    const at::Tensor& kept = on_processor.back();
    written.push_back(
        {name,
         DType::f32,
         sizes_of(kept),
         {static_cast<const std::byte*>(kept.const_data_ptr()), static_cast<std::size_t>(kept.nbytes())}});
  }
  write_safetensors(written, file);
}

void AdamW::load(const std::filesystem::path& file) {
  const at::NoGradGuard no_grad;
  const SafetensorsFile stored(file);
  const std::map<std::string, at::Tensor> mine = state();
  if (stored.tensors().size() != mine.size())
    throw Error(fmt::format("{}: this is the state of other parameters: {} tensors, not {}", file.string(),
                            stored.tensors().size(), mine.size()));
  std::map<std::string, at::Tensor> read;
  for (const auto& [name, tensor] : mine) read[name] = stored_tensor(stored, name, tensor, file);
  for (const auto& [name, tensor] : mine) tensor.copy_(read[name]);
}

}  // namespace cudal1
