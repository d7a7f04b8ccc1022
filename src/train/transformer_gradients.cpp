#include "train/transformer_gradients.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/result.hpp"
#include "model/transformer/parameter_names.hpp"
#include "model/transformer/rotary.hpp"

namespace cudal1 {
namespace {

//! Those of one input together, in the order of computation.
std::vector<std::vector<std::string>> linear_groups(std::int64_t index) {
  const auto named = [&](std::string_view part) { return layer_name(index, part); };
  return {{named("self_attn.q_proj"), named("self_attn.k_proj"), named("self_attn.v_proj")},
          {named("self_attn.o_proj")},
          {named("mlp.gate_proj"), named("mlp.up_proj")},
          {named("mlp.down_proj")}};
}

std::vector<std::vector<std::string>> linear_groups_of_all(const ModelConfig& config) {
  std::vector<std::vector<std::string>> all;
  for (std::int64_t index = 0; index < config.layers; ++index)
    for (std::vector<std::string>& group : linear_groups(index)) all.push_back(std::move(group));
  return all;
}

//! All of the model's; those that are computed together follow each other.
std::vector<std::pair<std::string, at::Tensor>> ordered_parameters(const Transformer& model) {
  std::map<std::string, at::Tensor> left = model.parameters();
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const std::vector<std::string>& group : linear_groups_of_all(model.config()))
    for (const char* ending : {".weight", ".bias"})
      for (const std::string& layer : group)
        if (const auto found = left.find(layer + ending); found != left.end()) {
          ordered.push_back(*found);
          left.erase(found);
        }
  ordered.insert(ordered.end(), left.begin(), left.end());
  return ordered;
}

}  // namespace

TransformerGradients::TransformerGradients(Transformer& model, const std::string& adapter, RowOperations& rows,
                                           std::int64_t logits_rows)
    : model_(model), config_(model.config()), rows_(rows), logits_rows_(std::max<std::int64_t>(1, logits_rows)) {
  const at::NoGradGuard no_gradients;
  if (!adapter.empty()) adapter_.emplace(model, adapter, linear_groups_of_all(config_));
  store_.emplace(adapter_ ? adapter_->parameters() : ordered_parameters(model));
  for (std::int64_t index = 0; index < config_.layers; ++index)
    layers_.push_back(make_layer(index, adapter_ ? &*adapter_ : nullptr));
  const std::string output_name = config_.tied_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
  embedding_ = model.parameter("model.embed_tokens.weight").detach();
  output_ = model.parameter(output_name).detach();
  last_norm_ = model.parameter("model.norm.weight").detach();
  embedding_gradient_ = store_->of("model.embed_tokens.weight");
  output_gradient_ = store_->of(output_name);
  last_norm_gradient_ = store_->of("model.norm.weight");
  frequencies_ = at::tensor(rotary_frequencies(config_), at::kFloat).to(model.options().device);
}

TransformerGradients::Layer TransformerGradients::make_layer(std::int64_t index, const TrainedAdapter* adapter) const {
  const std::vector<std::vector<std::string>> groups = linear_groups(index);
  const auto linear = [&](std::size_t group) { return TrainedLinear(model_, groups[group], *store_, adapter); };
  Layer layer{linear(0), linear(1), linear(2), linear(3), {}, {}, {}, {}, {}, {}, {}, {}};
  const auto norm = [&](std::string_view part, at::Tensor& weight, at::Tensor& gradient) {
    weight = model_.parameter(layer_name(index, part)).detach();
    gradient = store_->of(layer_name(index, part));
  };
  norm("input_layernorm.weight", layer.attention_norm, layer.attention_norm_gradient);
  norm("post_attention_layernorm.weight", layer.feed_forward_norm, layer.feed_forward_norm_gradient);
  if (!config_.query_key_norm) return layer;
  norm("self_attn.q_norm.weight", layer.query_norm, layer.query_norm_gradient);
  norm("self_attn.k_norm.weight", layer.key_norm, layer.key_norm_gradient);
  return layer;
}

TransformerGradients::Heads TransformerGradients::heads_of(const at::Tensor& projected) const {
  const at::Tensor all = projected.view({projected.size(0), -1, config_.head_size});  // (T, heads + 2 kv_heads, D)
  return {all.narrow(1, 0, config_.heads), all.narrow(1, config_.heads, config_.kv_heads),
          all.narrow(1, config_.heads + config_.kv_heads, config_.kv_heads)};
}

TransformerGradients::Angles TransformerGradients::angles_of(const PackedTokens& tokens) const {
  const at::Tensor angles = at::outer(tokens.positions.to(at::kFloat), frequencies_);
  return {angles.cos(), angles.sin()};
}

void TransformerGradients::norm_heads(const Layer& layer, LayerState& state) const {
  state.unnormed = state.projected;
  const Heads heads = heads_of(state.unnormed);
  state.query_norm = plain_norm(heads.query, layer.query_norm, config_.norm_epsilon);
  state.key_norm = plain_norm(heads.key, layer.key_norm, config_.norm_epsilon);
  state.projected = at::cat({state.query_norm.out, state.key_norm.out, heads.value}, 1).flatten(1);
}

at::Tensor TransformerGradients::norm_heads_backward(const Layer& layer, const LayerState& state,
                                                     const at::Tensor& gradient) const {
  const Heads before = heads_of(state.unnormed), slopes = heads_of(gradient);
  const PlainNormGradients query =
      plain_norm_backward(before.query, state.query_norm.scales, layer.query_norm, slopes.query);
  const PlainNormGradients key = plain_norm_backward(before.key, state.key_norm.scales, layer.key_norm, slopes.key);
  if (layer.query_norm_gradient.defined()) layer.query_norm_gradient.add_(query.weight);
  if (layer.key_norm_gradient.defined()) layer.key_norm_gradient.add_(key.weight);
  return at::cat({query.x, key.x, slopes.value}, 1).flatten(1);
}

at::Tensor TransformerGradients::forward(const Layer& layer, const at::Tensor& x, const at::Tensor& delta,
                                         const PackedTokens& tokens, const Angles& angles, LayerState& state) const {
  state.before_attention = rows_.add_and_norm(x, delta, layer.attention_norm);
  state.projected = layer.projection.forward(state.before_attention.out, state.inner_projection);
  if (config_.query_key_norm) norm_heads(layer, state);
  rows_.rotate(state.projected, angles.cosines, angles.sines);
  const Heads heads = heads_of(state.projected);
  state.attention = packed_attention_for_gradients(heads.query, heads.key, heads.value, tokens);
  const at::Tensor mixed = layer.mixed.forward(state.attention.out.flatten(1), state.inner_mixed);
  state.before_feed_forward = rows_.add_and_norm(state.before_attention.sum, mixed, layer.feed_forward_norm);
  state.gate_and_up = layer.gate_and_up.forward(state.before_feed_forward.out, state.inner_gate_and_up);
  state.gated = rows_.gate(state.gate_and_up);
  return layer.down.forward(state.gated, state.inner_down);
}

void TransformerGradients::norm_backward(const RowOperations::Normed& normed, const at::Tensor& weight,
                                         const at::Tensor& weight_gradient, const at::Tensor& out_gradient,
                                         at::Tensor& gradient) const {
  const at::Tensor of_weight =
      rows_.norm_backward(normed, weight, out_gradient, gradient, /*wants_weight=*/weight_gradient.defined());
  if (weight_gradient.defined()) weight_gradient.add_(of_weight);
}

void TransformerGradients::backward(const Layer& layer, LayerState& state, const PackedTokens& tokens,
                                    const Angles& angles, at::Tensor& gradient) const {
  const at::Tensor of_gated = layer.down.backward(gradient, state.gated, state.inner_down);
  rows_.gate_backward(state.gate_and_up, of_gated);
  const at::Tensor of_normed =
      layer.gate_and_up.backward(state.gate_and_up, state.before_feed_forward.out, state.inner_gate_and_up);
  norm_backward(state.before_feed_forward, layer.feed_forward_norm, layer.feed_forward_norm_gradient, of_normed,
                gradient);

  const at::Tensor of_attended = layer.mixed.backward(gradient, state.attention.out.flatten(1), state.inner_mixed);
  const Heads heads = heads_of(state.projected);
  const AttentionGradients turned = packed_attention_backward(
      of_attended.view(state.attention.out.sizes()), heads.query, heads.key, heads.value, state.attention, tokens);
  at::Tensor of_projected = rows_.rotate_back(turned.query, turned.key, turned.value, angles.cosines, angles.sines);
  if (config_.query_key_norm) of_projected = norm_heads_backward(layer, state, of_projected);
  norm_backward(state.before_attention, layer.attention_norm, layer.attention_norm_gradient,
                layer.projection.backward(of_projected, state.before_attention.out, state.inner_projection), gradient);
}

RowOperations::Normed TransformerGradients::forward(const TrainingBatch& batch, const Angles& angles,
                                                    std::vector<LayerState>* states) {
  if (adapter_) adapter_->refresh();
  at::Tensor x = at::embedding(embedding_, batch.tokens.ids), delta;  // (T, C)
  for (const Layer& layer : layers_) {
    LayerState state;
    delta = forward(layer, x, delta, batch.tokens, angles, state);
    x = state.before_feed_forward.sum;
    if (states) states->push_back(std::move(state));
  }
  return rows_.add_and_norm(x, delta, last_norm_);
}

at::Tensor TransformerGradients::score(const at::Tensor& hidden, const TrainingBatch& batch, const LossSlopes& slopes,
                                       at::Tensor* gradient) const {
  const std::int64_t all = hidden.size(0), at_once = std::min(all, logits_rows_);
  const at::Tensor buffer = at::empty({at_once, config_.vocabulary}, hidden.options());
  const at::Tensor log_probabilities = at::empty({all}, hidden.options().dtype(at::kFloat));
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    const at::Tensor part = hidden.narrow(0, first, count), targets = batch.targets.narrow(0, first, count);
    at::Tensor logits = buffer.narrow(0, 0, count);
    at::mm_out(logits, part, output_.t());
    const AllowedByRow allowed = batch.allowed.part(first, count);
    const RowOperations::Scores scores = rows_.score(logits, targets, allowed);
    log_probabilities.narrow(0, first, count).copy_(scores.log_probabilities);
    if (!gradient) continue;
    const at::Tensor slope = slopes ? slopes(scores.log_probabilities, first) : -batch.weights.narrow(0, first, count);
    rows_.score_backward(logits, targets, scores.log_sums, slope.contiguous(), allowed);
    at::Tensor of_part = gradient->narrow(0, first, count);
    at::mm_out(of_part, logits, output_);
    if (output_gradient_.defined()) output_gradient_.add_(at::mm(logits.t(), part));
  }
  return log_probabilities;
}

at::Tensor TransformerGradients::log_probabilities(const TrainingBatch& batch) {
  const at::NoGradGuard no_gradients;
  const RowOperations::Normed last = forward(batch, angles_of(batch.tokens), nullptr);
  return score(last.out.index_select(0, batch.rows), batch, {}, nullptr);
}

at::Tensor TransformerGradients::log_probabilities_of(const at::Tensor& hidden, const TrainingBatch& batch) const {
  const at::NoGradGuard no_gradients;
  return score(hidden, batch, {}, nullptr);
}

at::Tensor TransformerGradients::accumulate(const TrainingBatch& batch, const LossSlopes& slopes) {
  const at::NoGradGuard no_gradients;
  const Angles angles = angles_of(batch.tokens);
  std::vector<LayerState> states;
  const RowOperations::Normed last = forward(batch, angles, &states);
  const at::Tensor chosen = last.out.index_select(0, batch.rows);  // (N, C)
  at::Tensor of_chosen = at::empty_like(chosen);
  const at::Tensor log_probabilities = score(chosen, batch, slopes, &of_chosen);
  const at::Tensor of_hidden = at::zeros_like(last.out).index_copy_(0, batch.rows, of_chosen);
  at::Tensor gradient;
  norm_backward(last, last_norm_, last_norm_gradient_, of_hidden, gradient);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    backward(layers_[i], states[i], batch.tokens, angles, gradient);
    states.pop_back();
  }
  if (embedding_gradient_.defined()) embedding_gradient_.index_add_(0, batch.tokens.ids, gradient.to(at::kFloat));
  return log_probabilities;
}

}  // namespace cudal1
