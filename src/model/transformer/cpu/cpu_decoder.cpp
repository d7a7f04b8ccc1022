#include "model/transformer/cpu/cpu_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "base/result.hpp"
#include "model/transformer/parameter_names.hpp"
#include "model/transformer/rotary.hpp"

namespace cudal1 {
namespace {

//! Tokens of a prompt that are computed together.
constexpr std::int64_t rows_at_once = 64;

std::vector<float> padded_values(const WeightTensor* tensor) {
  if (!tensor) return {};
  std::vector<float> values(static_cast<std::size_t>(tensor->elements()));
  dequantise(*tensor, values);
  values.resize(static_cast<std::size_t>(whole_blocks(tensor->elements())), 0.0F);
  return values;
}

void add_to_rows(const std::vector<float>& bias, float* rows, std::int64_t stride, std::int64_t count,
                 std::int64_t size) {
  if (bias.empty()) return;
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t i = 0; i < size; ++i) rows[row * stride + i] += bias[static_cast<std::size_t>(i)];
}

int thread_count(const CpuDecoderOptions& options) {
  return options.threads > 0 ? options.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct CpuDecoder::Layer {
  Layer(const ModelWeights& weights, std::int64_t index, CpuWeights form)
      : query(matrix(weights, index, "self_attn.q_proj", form)),
        key(matrix(weights, index, "self_attn.k_proj", form)),
        value(matrix(weights, index, "self_attn.v_proj", form)),
        mixed(matrix(weights, index, "self_attn.o_proj", form)),
        gate(matrix(weights, index, "mlp.gate_proj", form)),
        up(matrix(weights, index, "mlp.up_proj", form)),
        down(matrix(weights, index, "mlp.down_proj", form)) {
    const ModelConfig& config = weights.config();
    const auto vector = [&](std::string_view part) { return padded_values(weights.find(layer_name(index, part))); };
    attention_norm = vector("input_layernorm.weight");
    feed_forward_norm = vector("post_attention_layernorm.weight");
    if (config.attention_bias) {
      query_bias = vector("self_attn.q_proj.bias");
      key_bias = vector("self_attn.k_proj.bias");
      value_bias = vector("self_attn.v_proj.bias");
    }
    if (config.query_key_norm) {
      query_norm = vector("self_attn.q_norm.weight");
      key_norm = vector("self_attn.k_norm.weight");
    }
  }

  static PackedMatrix matrix(const ModelWeights& weights, std::int64_t index, std::string_view part, CpuWeights form) {
    return PackedMatrix(*weights.find(layer_name(index, part) + ".weight"), form);
  }

  PackedMatrix query, key, value, mixed, gate, up, down;
  std::vector<float> attention_norm, feed_forward_norm;
  std::vector<float> query_bias, key_bias, value_bias;  //!< empty: none
  std::vector<float> query_norm, key_norm;              //!< empty: none
};

struct CpuDecoder::Prompt final : ComputedPrompt {
  Prompt(const ModelConfig& config, std::int64_t tokens, const CpuDecoder* decoder)
      : owner(decoder), cache(config, tokens) {}
  std::int64_t length() const override { return cache.capacity(); }
  const CpuDecoder* owner;
  KvCache cache;
  std::vector<float> logits;  //!< (V), of the last token
};

struct CpuDecoder::Slot {
  Slot(const ModelConfig& config, std::int64_t capacity)
      : cache(config, capacity), logits(static_cast<std::size_t>(config.vocabulary)) {}
  KvCache cache;
  std::int64_t length = 0;
  std::vector<float> logits;  //!< (V)
};

//! What flows between the parts of a layer, for as many rows as are ever computed at once. Rows are whole blocks, what
//! is past their last element stays zero.
class CpuDecoder::Buffers {
 public:
  Buffers(const ModelConfig& config, std::int64_t rows, std::int64_t padded_head)
      : hidden(whole_blocks(config.hidden)),
        queries(whole_blocks(config.heads * config.head_size)),
        keys(whole_blocks(config.kv_heads * config.head_size)),
        feed_forward(whole_blocks(config.feed_forward)),
        turned(config.heads * padded_head) {
    for (AlignedVector<float>* buffer : {&x, &normed, &delta}) resize(*buffer, rows * hidden);
    for (AlignedVector<float>* buffer : {&query, &attended}) resize(*buffer, rows * queries);
    for (AlignedVector<float>* buffer : {&key, &value}) resize(*buffer, rows * keys);
    for (AlignedVector<float>* buffer : {&gate, &up}) resize(*buffer, rows * feed_forward);
    for (AlignedVector<float>* buffer : {&cosines, &sines}) resize(*buffer, rows * config.head_size / 2);
    resize(turned_query, rows * turned);
  }

  const std::int64_t hidden, queries, keys, feed_forward, turned;  //!< strides of rows
  AlignedVector<float> x, normed, delta;                           // (rows, C)
  AlignedVector<float> query, attended;                            // (rows, heads * D)
  AlignedVector<float> key, value;                                 // (rows, kv_heads * D)
  AlignedVector<float> gate, up;                                   // (rows, F)
  AlignedVector<float> cosines, sines;                             // (rows, D / 2)
  AlignedVector<float> turned_query;                               // (rows, heads, padded D)
  AlignedVector<float> logits;                                     // (slots, V), as many as were ever computed at once

 private:
  static void resize(AlignedVector<float>& buffer, std::int64_t size) {
    buffer.resize(static_cast<std::size_t>(size), 0.0F);
  }
};

CpuDecoder::CpuDecoder(const ModelWeights& weights, const CpuDecoderOptions& options)
    : config_(weights.config()), options_(options), kernels_(cpu_kernels()), team_(thread_count(options)) {
  check_weights(weights);
  if (options.slots <= 0) throw Error("a decoder needs at least one slot");
  if (options.slot_capacity <= 0 || options.slot_capacity > config_.context)
    throw Error(fmt::format("slots of {} tokens do not fit the model's context of {}; choose fewer tokens",
                            options.slot_capacity, config_.context));
  const auto matrix = [&](const char* name) {
    return std::make_unique<PackedMatrix>(*weights.find(name), options.weights);
  };
  embedding_ = matrix("model.embed_tokens.weight");
  if (!config_.tied_embeddings) output_ = matrix("lm_head.weight");
  for (std::int64_t index = 0; index < config_.layers; ++index)
    layers_.push_back(std::make_unique<Layer>(weights, index, options.weights));
  last_norm_ = padded_values(weights.find("model.norm.weight"));
  frequencies_ = rotary_frequencies(config_);
  for (std::int64_t slot = 0; slot < options.slots; ++slot)
    slots_.push_back(std::make_unique<Slot>(config_, options.slot_capacity));
  buffers_ =
      std::make_unique<Buffers>(config_, std::max(rows_at_once, options.slots), slots_.front()->cache.head_stride());
}

CpuDecoder::~CpuDecoder() = default;

std::size_t CpuDecoder::weight_bytes() const {
  std::size_t bytes = embedding_->bytes() + (output_ ? output_->bytes() : 0);
  for (const auto& layer : layers_)
    for (const PackedMatrix* matrix :
         {&layer->query, &layer->key, &layer->value, &layer->mixed, &layer->gate, &layer->up, &layer->down})
      bytes += matrix->bytes();
  return bytes;
}

void CpuDecoder::check_tokens(std::span<const std::int32_t> tokens) const {
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= config_.vocabulary)
      throw Error(fmt::format("token {} is not one of the model's {}; use the model's own tokenizer", token,
                              config_.vocabulary));
}

CpuDecoder::Slot& CpuDecoder::slot_at(std::int64_t slot) {
  if (slot < 0 || slot >= slots()) throw Error(fmt::format("there is no slot {}, only {}", slot, slots()));
  return *slots_[static_cast<std::size_t>(slot)];
}

void CpuDecoder::multiply(std::span<const Product> products, const float* x, std::int64_t x_stride, std::int64_t rows) {
  std::int64_t all_rows = 0;
  for (const Product& product : products) all_rows += product.matrix->rows();
  // Small pieces, so that a thread which is not given a core holds the others up for a moment only.
  const std::int64_t wanted = team_.threads() == 1 ? 1 : team_.threads() * 4;
  const std::int64_t piece_rows = std::max<std::int64_t>(48, (all_rows / wanted + 23) / 24 * 24);
  struct Piece {
    const Product* product;
    std::int64_t first, last;
  };
  std::vector<Piece> pieces;
  for (const Product& product : products)
    for (std::int64_t first = 0; first < product.matrix->rows(); first += piece_rows)
      pieces.push_back({&product, first, std::min(product.matrix->rows(), first + piece_rows)});
  team_.run(static_cast<std::uint32_t>(pieces.size()), [&](std::uint32_t index) {
    const Piece& piece = pieces[index];
    kernels_.product(piece.product->matrix->view(), piece.first, piece.last, x, x_stride, rows, piece.product->out,
                     piece.product->out_stride);
  });
}

void CpuDecoder::norm_rows(const std::vector<float>& weight, std::int64_t rows) {
  Buffers& buffers = *buffers_;
  for (std::int64_t row = 0; row < rows; ++row)
    kernels_.rms_norm(buffers.x.data() + row * buffers.hidden, weight.data(), config_.hidden, buffers.hidden,
                      static_cast<float>(config_.norm_epsilon), buffers.normed.data() + row * buffers.hidden);
}

void CpuDecoder::add_rows(std::int64_t rows) {
  float* x = buffers_->x.data();
  const float* delta = buffers_->delta.data();
  for (std::int64_t i = 0; i < rows * buffers_->hidden; ++i) x[i] += delta[i];
}

//! One head: normed where the model has norms of heads, then turned; cosines and sines (D / 2)
void CpuDecoder::rotate(const float* from, std::int64_t row, const std::vector<float>& norm, float* to) {
  const std::int64_t size = config_.head_size, half = size / 2, padded = slots_.front()->cache.head_stride();
  const float* cosines = buffers_->cosines.data() + row * half;
  const float* sines = buffers_->sines.data() + row * half;
  std::copy_n(from, size, to);
  if (!norm.empty()) kernels_.rms_norm(to, norm.data(), size, padded, static_cast<float>(config_.norm_epsilon), to);
  for (std::int64_t i = 0; i < half; ++i) {
    const float first = to[i], second = to[i + half];
    to[i] = first * cosines[i] - second * sines[i];
    to[i + half] = second * cosines[i] + first * sines[i];
  }
}

void CpuDecoder::rotate_and_keep(std::int64_t index, const Row& row, std::int64_t place) {
  Buffers& buffers = *buffers_;
  const Layer& layer = *layers_[static_cast<std::size_t>(index)];
  const std::int64_t size = config_.head_size, padded = row.cache->head_stride();
  for (std::int64_t head = 0; head < config_.heads; ++head)
    rotate(buffers.query.data() + place * buffers.queries + head * size, place, layer.query_norm,
           buffers.turned_query.data() + place * buffers.turned + head * padded);
  for (std::int64_t head = 0; head < config_.kv_heads; ++head) {
    const std::int64_t from = place * buffers.keys + head * size;
    rotate(buffers.key.data() + from, place, layer.key_norm, row.cache->keys(index, head) + row.position * padded);
    std::copy_n(buffers.value.data() + from, size, row.cache->values(index, head) + row.position * padded);
  }
}

void CpuDecoder::attention(std::int64_t index, std::span<const Row> rows) {
  Buffers& buffers = *buffers_;
  const std::int64_t size = config_.head_size, group = config_.heads / config_.kv_heads;
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  const auto pieces = static_cast<std::uint32_t>(static_cast<std::int64_t>(rows.size()) * config_.kv_heads);
  team_.run(pieces, [&](std::uint32_t piece) {
    thread_local std::vector<float> scratch;  // scores (group, length), then out (group, padded D)
    const std::int64_t place = piece / config_.kv_heads, head = piece % config_.kv_heads;
    const Row& row = rows[static_cast<std::size_t>(place)];
    const std::int64_t length = row.position + 1, padded = row.cache->head_stride();
    scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(group * (length + padded))));
    float* out = scratch.data() + group * length;
    kernels_.attend(buffers.turned_query.data() + place * buffers.turned + head * group * padded,
                    row.cache->keys(index, head), row.cache->values(index, head), length, group, padded, scale,
                    scratch.data(), out);
    float* to = buffers.attended.data() + place * buffers.queries + head * group * size;
    for (std::int64_t g = 0; g < group; ++g) std::copy_n(out + g * padded, size, to + g * size);
  });
}

void CpuDecoder::compute_layer(std::int64_t index, std::span<const Row> rows) {
  Buffers& buffers = *buffers_;
  const Layer& layer = *layers_[static_cast<std::size_t>(index)];
  const auto count = static_cast<std::int64_t>(rows.size());
  norm_rows(layer.attention_norm, count);
  multiply(std::vector<Product>{{&layer.query, buffers.query.data(), buffers.queries},
                                {&layer.key, buffers.key.data(), buffers.keys},
                                {&layer.value, buffers.value.data(), buffers.keys}},
           buffers.normed.data(), buffers.hidden, count);
  add_to_rows(layer.query_bias, buffers.query.data(), buffers.queries, count, layer.query.rows());
  add_to_rows(layer.key_bias, buffers.key.data(), buffers.keys, count, layer.key.rows());
  add_to_rows(layer.value_bias, buffers.value.data(), buffers.keys, count, layer.value.rows());
  for (std::int64_t place = 0; place < count; ++place)
    rotate_and_keep(index, rows[static_cast<std::size_t>(place)], place);
  attention(index, rows);
  const std::vector<Product> mixed = {{&layer.mixed, buffers.delta.data(), buffers.hidden}};
  multiply(mixed, buffers.attended.data(), buffers.queries, count);
  add_rows(count);

  norm_rows(layer.feed_forward_norm, count);
  multiply(std::vector<Product>{{&layer.gate, buffers.gate.data(), buffers.feed_forward},
                                {&layer.up, buffers.up.data(), buffers.feed_forward}},
           buffers.normed.data(), buffers.hidden, count);
  kernels_.gate(buffers.gate.data(), buffers.up.data(), count * buffers.feed_forward);
  const std::vector<Product> down = {{&layer.down, buffers.delta.data(), buffers.hidden}};
  multiply(down, buffers.gate.data(), buffers.feed_forward, count);
  add_rows(count);
}

void CpuDecoder::compute(std::span<const Row> rows) {
  Buffers& buffers = *buffers_;
  const std::int64_t half = config_.head_size / 2;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const auto start = static_cast<std::int64_t>(place);
    embedding_->read_row(rows[place].token,
                         {buffers.x.data() + start * buffers.hidden, static_cast<std::size_t>(config_.hidden)});
    for (std::int64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(rows[place].position) * frequencies_[static_cast<std::size_t>(i)];
      buffers.cosines[static_cast<std::size_t>(start * half + i)] = std::cos(angle);
      buffers.sines[static_cast<std::size_t>(start * half + i)] = std::sin(angle);
    }
  }
  for (std::int64_t index = 0; index < config_.layers; ++index) compute_layer(index, rows);
  norm_rows(last_norm_, static_cast<std::int64_t>(rows.size()));
}

void CpuDecoder::compute_logits(std::int64_t first_row, std::int64_t rows, float* out) {
  const std::vector<Product> product = {{&output_matrix(), out, config_.vocabulary}};
  multiply(product, buffers_->normed.data() + first_row * buffers_->hidden, buffers_->hidden, rows);
}

template <class After>
void CpuDecoder::compute_text(std::span<const std::int32_t> tokens, KvCache& cache, const After& after) {
  check_tokens(tokens);
  const auto length = static_cast<std::int64_t>(tokens.size());
  for (std::int64_t first = 0; first < length; first += rows_at_once) {
    std::vector<Row> rows;
    for (std::int64_t position = first; position < std::min(length, first + rows_at_once); ++position)
      rows.push_back({tokens[static_cast<std::size_t>(position)], position, &cache});
    compute(rows);
    after(first, static_cast<std::int64_t>(rows.size()));
  }
}

std::shared_ptr<const ComputedPrompt> CpuDecoder::prefill(std::span<const std::int32_t> prompt) {
  const auto length = static_cast<std::int64_t>(prompt.size());
  if (length == 0) throw Error("a prompt without tokens cannot be continued; give it a first token");
  if (length > options_.slot_capacity)
    throw Error(fmt::format("the prompt has {} tokens, {} fit; shorten it or choose a larger context", length,
                            options_.slot_capacity));
  const auto computed = std::make_shared<Prompt>(config_, length, this);
  computed->logits.resize(static_cast<std::size_t>(config_.vocabulary));
  compute_text(prompt, computed->cache, [&](std::int64_t first, std::int64_t count) {
    if (first + count == length) compute_logits(count - 1, 1, computed->logits.data());
  });
  return computed;
}

std::vector<float> CpuDecoder::all_logits(std::span<const std::int32_t> tokens) {
  std::vector<float> logits(tokens.size() * static_cast<std::size_t>(config_.vocabulary));
  KvCache cache(config_, std::max<std::int64_t>(1, static_cast<std::int64_t>(tokens.size())));
  compute_text(tokens, cache, [&](std::int64_t first, std::int64_t count) {
    compute_logits(0, count, logits.data() + first * config_.vocabulary);
  });
  return logits;
}

void CpuDecoder::start(std::int64_t slot, const ComputedPrompt& prompt) {
  const auto* ours = dynamic_cast<const Prompt*>(&prompt);
  if (!ours || ours->owner != this) throw Error("a prompt can start slots of the decoder that computed it only");
  Slot& started = slot_at(slot);
  started.cache.copy_from(ours->cache, ours->length());
  started.length = ours->length();
  started.logits = ours->logits;
}

void CpuDecoder::step(std::span<const SlotToken> tokens) {
  std::vector<Row> rows;
  for (const auto& [slot, token] : tokens) {
    check_tokens({&token, 1});
    Slot& continued = slot_at(slot);
    if (continued.length >= options_.slot_capacity)
      throw Error(fmt::format("a text has reached the {} tokens that its slot holds; choose a larger context",
                              options_.slot_capacity));
    rows.push_back({token, continued.length, &continued.cache});
  }
  if (rows.size() > slots_.size()) throw Error("a slot can take one token a step");
  compute(rows);
  AlignedVector<float>& logits = buffers_->logits;
  logits.resize(std::max(logits.size(), rows.size() * static_cast<std::size_t>(config_.vocabulary)));
  compute_logits(0, static_cast<std::int64_t>(rows.size()), logits.data());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Slot& continued = slot_at(tokens[i].slot);
    continued.length += 1;
    std::copy_n(logits.data() + static_cast<std::int64_t>(i) * config_.vocabulary, config_.vocabulary,
                continued.logits.data());
  }
}

std::span<const float> CpuDecoder::logits(std::int64_t slot) const {
  return const_cast<CpuDecoder*>(this)->slot_at(slot).logits;
}

std::vector<DrawnToken> CpuDecoder::draw(std::span<const SlotDraw> draws) {
  std::vector<DrawnToken> drawn(draws.size());
  std::vector<std::exception_ptr> problems(draws.size());  // workers must not throw
  team_.run(static_cast<std::uint32_t>(draws.size()), [&](std::uint32_t i) {
    try {
      drawn[i] = draw_token(slot_at(draws[i].slot).logits, draws[i].draw);
    } catch (...) {
      problems[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& problem : problems)
    if (problem) std::rethrow_exception(problem);
  return drawn;
}

}  // namespace cudal1
