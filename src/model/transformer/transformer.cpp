#include "model/transformer/transformer.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <span>

#include "base/result.hpp"
#include "model/transformer/attention.hpp"
#include "model/transformer/checkpointing.hpp"
#include "model/transformer/parameter_names.hpp"
#include "model/transformer/rotary.hpp"

namespace cudal1 {
namespace {

at::Tensor loaded(const WeightTensor& weight, const TransformerOptions& options) {
  at::Tensor values = at::empty(weight.shape, at::kFloat);
  dequantise(weight, {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  return values.to(options.device, options.dtype);
}

at::Tensor from_values(const std::vector<float>& values, at::IntArrayRef shape, at::Device device) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::memcpy(tensor.mutable_data_ptr<float>(), values.data(), values.size() * sizeof(float));
  return tensor.to(device);
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor there = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  return {there.const_data_ptr<float>(), there.const_data_ptr<float>() + there.numel()};
}

//! x (..., N) / rms(x) * weight (N), in fp32 and rounded once
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon);
  return (wide * scale * weight.to(at::kFloat)).to(x.scalar_type());
}

//! Turns each pair (i, i + D / 2) of every head: x (T, heads, D), cosines and sines (T, 1, D / 2)
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const std::vector<at::Tensor> halves = x.to(at::kFloat).chunk(2, -1);  // (T, heads, D / 2) each
  return at::cat({halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines}, -1)
      .to(x.scalar_type());
}

constexpr std::string_view linear_parts[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                             "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                             "mlp.down_proj"};

}  // namespace

Transformer::Transformer(const ModelWeights& weights, const TransformerOptions& options)
    : config_(weights.config()), options_(options) {
  check_weights(weights);
  for (const ParameterShape& shape : parameter_shapes(config_))
    parameters_[shape.name] = loaded(*weights.find(shape.name), options_);
  frequencies_ = from_values(rotary_frequencies(config_), {config_.head_size / 2}, options_.device);
}

const at::Tensor& Transformer::parameter(const std::string& name) const {
  const auto found = parameters_.find(name);
  if (found == parameters_.end()) throw Error(fmt::format("the model has no parameter {}", name));
  return found->second;
}

const at::Tensor& Transformer::output_matrix() const {
  return parameter(config_.tied_embeddings ? "model.embed_tokens.weight" : "lm_head.weight");
}

at::Tensor Transformer::linear(const at::Tensor& input, const std::string& layer) const {
  const auto bias = parameters_.find(layer + ".bias");
  const at::Tensor base = at::linear(input, parameter(layer + ".weight"),
                                     bias == parameters_.end() ? std::nullopt : std::optional(bias->second));
  if (!used_adapter_) return base;  // (T, out)
  const auto lora = used_adapter_->layers.find(layer);
  if (lora == used_adapter_->layers.end()) return base;
  const at::Tensor inner = at::linear(input, lora->second.a.to(input.scalar_type()));  // (T, rank)
  return base + at::linear(inner, lora->second.b.to(input.scalar_type())) * used_adapter_->scale;
}

at::Tensor Transformer::norm(const at::Tensor& input, const std::string& name) const {
  return rms_norm(input, parameter(name), config_.norm_epsilon);
}

at::Tensor Transformer::attention(const at::Tensor& input, std::int64_t layer, const PackedTokens& tokens,
                                  const at::Tensor& cosines, const at::Tensor& sines,
                                  const KeepKeysAndValues& keep) const {
  const auto heads = [&](std::string_view part, std::int64_t count) {
    return linear(input, layer_name(layer, part)).view({-1, count, config_.head_size});
  };
  at::Tensor query = heads("self_attn.q_proj", config_.heads);           // (T, heads, D)
  at::Tensor key = heads("self_attn.k_proj", config_.kv_heads);          // (T, kv_heads, D)
  const at::Tensor value = heads("self_attn.v_proj", config_.kv_heads);  // (T, kv_heads, D)
  if (config_.query_key_norm) {
    query = norm(query, layer_name(layer, "self_attn.q_norm.weight"));
    key = norm(key, layer_name(layer, "self_attn.k_norm.weight"));
  }
  const at::Tensor turned_key = rotated(key, cosines, sines);
  if (keep) keep(layer, turned_key, value);
  const at::Tensor mixed = packed_attention(rotated(query, cosines, sines), turned_key, value, tokens);
  return linear(mixed.reshape({-1, config_.heads * config_.head_size}), layer_name(layer, "self_attn.o_proj"));
}

at::Tensor Transformer::feed_forward(const at::Tensor& input, std::int64_t layer) const {
  const at::Tensor gate = linear(input, layer_name(layer, "mlp.gate_proj"));  // (T, F)
  const at::Tensor up = linear(input, layer_name(layer, "mlp.up_proj"));      // (T, F)
  return linear(at::silu(gate) * up, layer_name(layer, "mlp.down_proj"));     // (T, C)
}

at::Tensor Transformer::layer(const at::Tensor& input, std::int64_t index, const PackedTokens& tokens,
                              const at::Tensor& cosines, const at::Tensor& sines, const KeepKeysAndValues& keep) const {
  const at::Tensor attended =
      input + attention(norm(input, layer_name(index, "input_layernorm.weight")), index, tokens, cosines, sines, keep);
  return attended + feed_forward(norm(attended, layer_name(index, "post_attention_layernorm.weight")), index);
}

std::vector<at::Tensor> Transformer::trained_tensors(std::int64_t index) const {
  std::vector<at::Tensor> tensors;
  const std::string prefix = layer_name(index, "");
  for (auto it = parameters_.lower_bound(prefix); it != parameters_.end() && it->first.starts_with(prefix); ++it)
    if (it->second.requires_grad()) tensors.push_back(it->second);
  if (!used_adapter_) return tensors;
  for (const std::string_view part : linear_parts)
    if (const auto lora = used_adapter_->layers.find(layer_name(index, part)); lora != used_adapter_->layers.end())
      tensors.insert(tensors.end(), {lora->second.a, lora->second.b});
  return tensors;
}

at::Tensor Transformer::hidden_states(const PackedTokens& tokens, const KeepKeysAndValues& keep) const {
  at::Tensor x = at::embedding(parameter("model.embed_tokens.weight"), tokens.ids);                 // (T, C)
  const at::Tensor angles = at::outer(tokens.positions.to(at::kFloat), frequencies_).unsqueeze(1);  // (T, 1, D / 2)
  const at::Tensor cosines = angles.cos(), sines = angles.sin();
  for (std::int64_t index = 0; index < config_.layers; ++index) {
    const auto compute = [this, index, tokens, cosines, sines, keep](const at::Tensor& input) {
      return layer(input, index, tokens, cosines, sines, keep);
    };
    x = options_.checkpointing ? checkpointed(compute, x, trained_tensors(index)) : compute(x);
  }
  return norm(x, "model.norm.weight");
}

at::Tensor Transformer::logits(const at::Tensor& hidden) const { return at::linear(hidden, output_matrix()); }

at::Tensor Transformer::log_probabilities(const at::Tensor& hidden, const at::Tensor& targets,
                                          std::int64_t rows_at_once) const {
  std::vector<at::Tensor> chunks;
  for (std::int64_t start = 0; start < hidden.size(0); start += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, hidden.size(0) - start);
    const auto compute = [this, wanted = targets.narrow(0, start, rows)](const at::Tensor& part) {
      const at::Tensor scores = logits(part).to(at::kFloat);  // (rows, V)
      return scores.gather(1, wanted.unsqueeze(1)).squeeze(1) - at::logsumexp(scores, {1});
    };
    chunks.push_back(checkpointed(compute, hidden.narrow(0, start, rows), {output_matrix()}));
  }
  return at::cat(chunks, 0);  // (T)
}

void Transformer::add_adapter(const std::string& name, const LoraAdapter& adapter) {
  if (name.empty() || adapters_.contains(name))
    throw Error(fmt::format("an adapter needs a name of its own, '{}' is empty or taken", name));
  check_adapter(adapter, config_, name);
  Adapter made{adapter, static_cast<float>(adapter.scale()), {}};
  made.description.modules.clear();
  for (const auto& [path, module] : adapter.modules)
    made.layers[path] = {from_values(module.a, {adapter.rank, module.in}, options_.device).requires_grad_(),
                         from_values(module.b, {module.out, adapter.rank}, options_.device).requires_grad_()};
  adapters_[name] = std::move(made);
}

const Transformer::Adapter& Transformer::find_adapter(const std::string& name) const {
  const auto found = adapters_.find(name);
  if (found == adapters_.end()) throw Error(fmt::format("there is no adapter {}; add it first", name));
  return found->second;
}

void Transformer::use_adapter(const std::string& name) { used_adapter_ = name.empty() ? nullptr : &find_adapter(name); }

LoraAdapter Transformer::adapter(const std::string& name) const {
  const Adapter& found = find_adapter(name);
  LoraAdapter result = found.description;
  for (const auto& [path, lora] : found.layers)
    result.modules[path] = {lora.b.size(0), lora.a.size(1), values_of(lora.a), values_of(lora.b)};
  return result;
}

std::map<std::string, at::Tensor> Transformer::adapter_parameters(const std::string& name) const {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [layer, lora] : find_adapter(name).layers) {
    tensors[layer + ".lora_A"] = lora.a;
    tensors[layer + ".lora_B"] = lora.b;
  }
  return tensors;
}

}  // namespace cudal1
