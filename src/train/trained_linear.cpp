#include "train/trained_linear.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/result.hpp"
#include "model/transformer/joined_rows.hpp"

namespace cudal1 {
namespace {

//! Tensors of one row length that follow each other in `flat`, as one.
at::Tensor rows_in(const at::Tensor& flat, std::int64_t offset, const std::vector<at::Tensor>& parts) {
  std::vector<std::int64_t> shape = parts[0].sizes().vec();
  shape[0] = 0;
  std::int64_t count = 0;
  for (const at::Tensor& part : parts) {
    shape[0] += part.size(0);
    count += part.numel();
  }
  return flat.narrow(0, offset, count).view(shape);
}

std::vector<std::string> with_ending(const std::vector<std::string>& layers, const std::string& ending) {
  std::vector<std::string> names;
  for (const std::string& layer : layers) names.push_back(layer + ending);
  return names;
}

std::int64_t all_elements(const std::vector<std::pair<std::string, at::Tensor>>& parameters,
                          std::map<std::string, std::int64_t>& offsets) {
  std::int64_t count = 0;
  for (const auto& [name, parameter] : parameters) {
    offsets[name] = count;
    count += parameter.numel();
  }
  return count;
}

}  // namespace

GradientStore::GradientStore(std::vector<std::pair<std::string, at::Tensor>> parameters) {
  if (parameters.empty()) throw Error("there is no parameter to train");
  const std::int64_t count = all_elements(parameters, offsets_);
  all_ = at::zeros({count}, parameters[0].second.options().dtype(at::kFloat).requires_grad(false));
  for (auto& [name, parameter] : parameters) {
    parameters_[name] = parameter;
    parameter.mutable_grad() = of(name);
  }
}

at::Tensor GradientStore::of(const std::vector<std::string>& names) const {
  if (!offsets_.contains(names.at(0))) return {};
  std::vector<at::Tensor> parts;
  std::int64_t next = offsets_.at(names[0]);
  const std::int64_t first = next;
  for (const std::string& name : names) {
    if (offsets_.at(name) != next) throw Error(fmt::format("the gradient of {} lies elsewhere", name));
    parts.push_back(parameters_.at(name));
    next += parts.back().numel();
  }
  return rows_in(all_, first, parts);
}

TrainedAdapter::TrainedAdapter(Transformer& model, const std::string& name,
                               const std::vector<std::vector<std::string>>& groups)
    : scale_(model.adapter_scale(name)) {
  const std::map<std::string, at::Tensor> all = model.adapter_parameters(name);
  for (const std::vector<std::string>& group : groups)
    for (const char* ending : {".lora_A", ".lora_B"})
      for (const std::string& parameter : with_ending(group, ending))
        if (const auto found = all.find(parameter); found != all.end()) parameters_.push_back(*found);
  if (parameters_.empty()) throw Error(fmt::format("the adapter {} has no layer that could be trained", name));
  values_ = at::empty({all_elements(parameters_, offsets_)}, parameters_[0].second.detach().options());
  for (auto& [parameter, tensor] : parameters_) {
    const at::Tensor place = rows_in(values_, offsets_.at(parameter), {tensor});
    place.copy_(tensor.detach());
    tensor.set_data(place);
  }
  rounded_ = values_.to(model.options().dtype);
}

void TrainedAdapter::refresh() {
  if (!rounded_.is_same(values_)) rounded_.copy_(values_);
}

at::Tensor TrainedAdapter::rounded(const std::vector<std::string>& names) const {
  std::vector<at::Tensor> parts;
  for (const std::string& name : names)
    for (const auto& [parameter, tensor] : parameters_)
      if (parameter == name) parts.push_back(tensor);
  return parts.empty() ? at::Tensor() : rows_in(rounded_, offsets_.at(names[0]), parts);
}

TrainedLinear::TrainedLinear(const Transformer& model, const std::vector<std::string>& layers,
                             const GradientStore& gradients, const TrainedAdapter* adapter) {
  const auto all_of = [&](const std::string& ending) {
    std::vector<at::Tensor> tensors;
    for (const std::string& name : with_ending(layers, ending)) tensors.push_back(model.parameter(name));
    return tensors;
  };
  std::vector<std::int64_t> first_rows = {0};
  for (const at::Tensor& weight : all_of(".weight")) first_rows.push_back(first_rows.back() + weight.size(0));
  weight_ = joined_rows(all_of(".weight"));
  weight_gradient_ = gradients.of(with_ending(layers, ".weight"));
  if (model.parameters().contains(layers[0] + ".bias")) {
    bias_ = joined_rows(all_of(".bias"));
    bias_gradient_ = gradients.of(with_ending(layers, ".bias"));
  }
  if (adapter) add_adapter(*adapter, layers, first_rows, gradients);
}

void TrainedLinear::add_adapter(const TrainedAdapter& adapter, const std::vector<std::string>& layers,
                                const std::vector<std::int64_t>& first_rows, const GradientStore& gradients) {
  std::vector<std::string> a_names;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const at::Tensor b = adapter.rounded({layers[i] + ".lora_B"});
    if (!b.defined()) continue;
    parts_.push_back({first_rows[i], b, gradients.of(layers[i] + ".lora_B")});
    a_names.push_back(layers[i] + ".lora_A");
  }
  if (parts_.empty()) return;
  scale_ = adapter.scale();
  rank_ = parts_[0].b.size(1);
  a_ = adapter.rounded(a_names);
  a_gradient_ = gradients.of(a_names);
}

at::Tensor TrainedLinear::forward(const at::Tensor& x, at::Tensor& inner) const {
  const at::Tensor out = bias_.defined() ? at::addmm(bias_, x, weight_.t()) : at::mm(x, weight_.t());
  if (parts_.empty()) return out;
  inner = at::mm(x, a_.t());  // (T, parts * rank)
  std::int64_t first = 0;
  for (const Part& part : parts_) {
    out.narrow(1, part.first_row, part.b.size(0)).addmm_(inner.narrow(1, first, rank_), part.b.t(), 1.0, scale_);
    first += rank_;
  }
  return out;
}

at::Tensor TrainedLinear::backward(const at::Tensor& out_gradient, const at::Tensor& x, const at::Tensor& inner) const {
  const at::Tensor x_gradient = at::mm(out_gradient, weight_);
  if (weight_gradient_.defined()) weight_gradient_.add_(at::mm(out_gradient.t(), x));
  if (bias_gradient_.defined()) bias_gradient_.add_(out_gradient.sum(0, /*keepdim=*/false, at::kFloat));
  if (!parts_.empty()) adapter_backward(out_gradient, x, inner, x_gradient);
  return x_gradient;
}

void TrainedLinear::adapter_backward(const at::Tensor& out_gradient, const at::Tensor& x, const at::Tensor& inner,
                                     const at::Tensor& x_gradient) const {
  const at::Tensor inner_gradient = at::empty_like(inner);
  std::int64_t first = 0;
  for (const Part& part : parts_) {
    const at::Tensor of_part = out_gradient.narrow(1, part.first_row, part.b.size(0));               // (T, out)
    inner_gradient.narrow(1, first, rank_).addmm_(of_part, part.b, /*beta=*/0.0, /*alpha=*/scale_);  // overwritten
    part.b_gradient.add_(at::mm(of_part.t(), inner.narrow(1, first, rank_)), scale_);
    first += rank_;
  }
  x_gradient.addmm_(inner_gradient, a_);
  a_gradient_.add_(at::mm(inner_gradient.t(), x));
}

}  // namespace cudal1
