#include "model/transformer/gpu/decode_step.hpp"

#include <ATen/ATen.h>

#include <utility>

#include "model/transformer/joined_rows.hpp"
#include "model/transformer/parameter_names.hpp"
#include "model/transformer/rotary.hpp"

namespace cudal1 {
namespace {

at::Tensor joined(const Transformer& model, const std::vector<std::string>& names) {
  std::vector<at::Tensor> parts;
  for (const std::string& name : names) parts.push_back(model.parameter(name));
  return joined_rows(std::move(parts));
}

//! out (rows, N) = x (rows, K) times weight (N, K); into memory that stays where it is
void multiply(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
  at::Tensor to = out;
  at::mm_out(to, x, weight.t());
}

}  // namespace

DecodeStep::DecodeStep(const Transformer& model, GpuRuntime& runtime, GpuDtype dtype, std::int64_t slots,
                       std::int64_t capacity)
    : config_(model.config()),
      runtime_(runtime),
      attention_(attention_shape(config_, dtype, slots)),
      slots_(slots),
      capacity_(capacity) {
  embedding_ = model.parameter("model.embed_tokens.weight");
  output_ = config_.tied_embeddings ? embedding_ : model.parameter("lm_head.weight");
  last_norm_ = model.parameter("model.norm.weight");
  nothing_ = at::zeros({1}, last_norm_.options());
  for (std::int64_t index = 0; index < config_.layers; ++index) layers_.push_back(layer_of(model, index));
  make_buffers(model.options().dtype);
  make_angles();
}

DecodeStep::Layer DecodeStep::layer_of(const Transformer& model, std::int64_t index) const {
  const auto name = [&](std::string_view part) { return layer_name(index, part); };
  const auto all_of = [&](std::string_view kind) {
    return std::vector<std::string>{name("self_attn.q_proj.") + std::string(kind),
                                    name("self_attn.k_proj.") + std::string(kind),
                                    name("self_attn.v_proj.") + std::string(kind)};
  };
  Layer layer;
  layer.projection = joined(model, all_of("weight"));
  layer.bias = config_.attention_bias ? joined(model, all_of("bias")) : nothing_;
  layer.mixed = model.parameter(name("self_attn.o_proj.weight"));
  layer.gate_and_up = joined(model, {name("mlp.gate_proj.weight"), name("mlp.up_proj.weight")});
  layer.down = model.parameter(name("mlp.down_proj.weight"));
  layer.attention_norm = model.parameter(name("input_layernorm.weight"));
  layer.feed_forward_norm = model.parameter(name("post_attention_layernorm.weight"));
  layer.query_norm = config_.query_key_norm ? model.parameter(name("self_attn.q_norm.weight")) : nothing_;
  layer.key_norm = config_.query_key_norm ? model.parameter(name("self_attn.k_norm.weight")) : nothing_;
  return layer;
}

void DecodeStep::make_buffers(at::ScalarType type) {
  const at::TensorOptions options = at::TensorOptions(runtime_.device()).dtype(type);
  // Zeros, so that rows of slots that never had a token hold numbers.
  const auto rows_of = [&](std::int64_t size) { return at::zeros({slots_, size}, options); };
  x_ = rows_of(config_.hidden);
  normed_ = rows_of(config_.hidden);
  delta_ = rows_of(config_.hidden);
  last_hidden_ = rows_of(config_.hidden);
  projected_ = rows_of((config_.heads + 2 * config_.kv_heads) * config_.head_size);
  attended_ = rows_of(config_.heads * config_.head_size);
  gate_and_up_ = rows_of(2 * config_.feed_forward);
  gated_ = rows_of(config_.feed_forward);
  logits_ = rows_of(config_.vocabulary);
  inputs_ = at::zeros({2, slots_}, options.dtype(at::kInt));
  requests_ = at::zeros({slots_, static_cast<std::int64_t>(sizeof(DrawRequest))}, options.dtype(at::kByte));
  masks_ = at::zeros({slots_, draw_mask_words(config_)}, options.dtype(at::kInt));
  results_ = at::zeros({slots_, static_cast<std::int64_t>(sizeof(DrawResult))}, options.dtype(at::kByte));
  const std::vector<std::int64_t> cache = {config_.layers, slots_, config_.kv_heads, capacity_, config_.head_size};
  keys_ = at::empty(cache, options);
  values_ = at::empty(cache, options);
}

//! As the transformer computes them.
void DecodeStep::make_angles() {
  const at::Tensor frequencies = at::tensor(rotary_frequencies(config_), at::kFloat).to(runtime_.device());
  const at::Tensor all = at::arange(capacity_, at::TensorOptions(at::kLong)).to(runtime_.device()).to(at::kFloat);
  const at::Tensor angles = at::outer(all, frequencies);
  cosines_ = angles.cos();
  sines_ = angles.sin();
}

void DecodeStep::add_and_norm(const at::Tensor& weight, const at::Tensor& out) {
  runtime_.launch({"add_and_norm", {rows(), 1}, row_kernel_threads, {positions(), delta_, weight, x_, out}});
}

void DecodeStep::attend(std::size_t index) {
  const Layer& layer = layers_[index];
  const auto blocks = static_cast<std::uint32_t>(config_.heads / attention_.block_heads);
  const auto at = static_cast<std::int64_t>(index);
  runtime_.launch({"attend",
                   {blocks, rows()},
                   static_cast<std::uint32_t>(attention_.threads),
                   {positions(), projected_, layer.bias, layer.query_norm, layer.key_norm, cosines_, sines_, keys_[at],
                    values_[at], attended_, static_cast<std::int32_t>(capacity_)}});
}

void DecodeStep::compute_layer(std::size_t index) {
  const Layer& layer = layers_[index];
  multiply(normed_, layer.projection, projected_);
  attend(index);
  multiply(attended_, layer.mixed, delta_);
  add_and_norm(layer.feed_forward_norm, normed_);
  multiply(normed_, layer.gate_and_up, gate_and_up_);
  const auto blocks = static_cast<std::uint32_t>((config_.feed_forward + row_kernel_threads - 1) / row_kernel_threads);
  runtime_.launch({"gate", {blocks, rows()}, row_kernel_threads, {positions(), gate_and_up_, gated_}});
  multiply(gated_, layer.down, delta_);
  const bool is_last = index + 1 == layers_.size();
  add_and_norm(is_last ? last_norm_ : layers_[index + 1].attention_norm, is_last ? last_hidden_ : normed_);
}

void DecodeStep::compute() {
  runtime_.launch({"embed_and_norm",
                   {rows(), 1},
                   row_kernel_threads,
                   {tokens(), positions(), embedding_, layers_.front().attention_norm, x_, normed_}});
  for (std::size_t index = 0; index < layers_.size(); ++index) compute_layer(index);
}

void DecodeStep::compute_logits() { multiply(last_hidden_, output_, logits_); }

void DecodeStep::keep_allowed() {
  const auto along = static_cast<std::uint32_t>((config_.vocabulary + row_kernel_threads - 1) / row_kernel_threads);
  runtime_.launch({"keep_allowed", {rows(), along}, row_kernel_threads, {logits_, requests_, masks_}});
}

void DecodeStep::draw() { runtime_.launch({"draw", {rows(), 1}, draw_kernel_threads, {logits_, requests_, results_}}); }

}  // namespace cudal1
