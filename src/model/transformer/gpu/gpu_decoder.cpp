#include "model/transformer/gpu/gpu_decoder.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/result.hpp"
#include "model/sampling/scores_not_numbers.hpp"
#include "model/transformer/gpu/decode_step.hpp"
#include "model/transformer/gpu/gpu_runtime.hpp"
#include "model/transformer/parameter_names.hpp"
#include "model/transformer/transformer.hpp"

namespace cudal1 {
namespace {

static_assert(std::endian::native == std::endian::little, "words of a mask are copied as they are");

constexpr const char* memory_advice = "write fewer texts at once, choose a shorter context, or decode on the CPU";

at::ScalarType torch_type(GpuDtype dtype) {
  return dtype == GpuDtype::f32 ? at::kFloat : dtype == GpuDtype::bf16 ? at::kBFloat16 : at::kHalf;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

//! What LibTorch throws becomes one line.
template <class Work>
auto guarded(const Work& work) {
  try {
    const at::NoGradGuard no_gradients;
    return work();
  } catch (const c10::OutOfMemoryError&) {
    throw Error(fmt::format("the GPU's memory is full; {}", memory_advice));
  } catch (const c10::Error& error) {
    throw Error(fmt::format("decoding on the GPU failed: {}", first_line(error.what_without_backtrace())));
  }
}

void check_options(const ModelConfig& config, const GpuDecoderOptions& options) {
  if (options.slots <= 0 || options.slots > 65535) throw Error("a decoder needs at least one slot, and at most 65535");
  if (options.slot_capacity <= 0 || options.slot_capacity > config.context)
    throw Error(fmt::format("slots of {} tokens do not fit the model's context of {}; choose fewer tokens",
                            options.slot_capacity, config.context));
}

//! Prompts in 16 bits go through flash attention, which takes heads of whole vectors only.
void check_heads(const ModelConfig& config, GpuDtype dtype, at::Device device) {
  if (device.is_cuda() && dtype != GpuDtype::f32 && config.head_size % 8 != 0)
    throw Error(
        fmt::format("heads of {} elements can be computed on a GPU in f32 only, not in 16 bits", config.head_size));
}

void check_memory(const ModelConfig& config, const GpuDecoderOptions& options, const GpuRuntime& runtime) {
  const std::optional<std::int64_t> free = runtime.free_bytes();
  const std::int64_t needed = gpu_bytes_needed(config, options);
  if (free && needed > *free)
    throw Error(
        fmt::format("the GPU has {:.1f} GB of memory free; the model with {} texts of {} tokens needs {:.1f}: {}",
                    static_cast<double>(*free) * 1e-9, options.slots, options.slot_capacity,
                    static_cast<double>(needed) * 1e-9, memory_advice));
}

void check_tokens(std::span<const std::int32_t> tokens, std::int64_t vocabulary) {
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= vocabulary)
      throw Error(
          fmt::format("token {} is not one of the model's {}; use the model's own tokenizer", token, vocabulary));
}

}  // namespace

std::int64_t gpu_bytes_needed(const ModelConfig& config, const GpuDecoderOptions& options) {
  std::int64_t elements = 0, largest_layer = 0;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    std::int64_t count = 1;
    for (const std::int64_t size : parameter.shape) count *= size;
    elements += count;
    largest_layer = std::max(largest_layer, 3 * count);  // while parameters are laid side by side
  }
  const std::int64_t token = 2 * config.layers * config.kv_heads * config.head_size;
  const std::int64_t flowing = 8 * config.hidden + 6 * config.feed_forward + 4 * config.heads * config.head_size;
  elements += largest_layer + token * options.slot_capacity * (options.slots + 1);  // and one prompt
  elements += options.slots * (flowing + config.vocabulary);
  const std::int64_t libraries = std::int64_t{512} << 20U;
  const std::int64_t prompt = 4 * flowing * options.slot_capacity;  // in fp32 where it is normed and turned
  return elements * static_cast<std::int64_t>(bytes_of(options.dtype)) + prompt + libraries;
}

struct GpuDecoder::Prompt final : ComputedPrompt {
  std::int64_t length() const override { return keys.size(2); }
  const GpuDecoder* owner = nullptr;
  at::Tensor keys, values;  // (layers, kv_heads, T, D)
  at::Tensor last_hidden;   // (C)
};

struct GpuDecoder::Parts {
  Parts(const ModelWeights& weights, const GpuDecoderOptions& given, std::shared_ptr<GpuRuntime> on)
      : options(given),
        runtime(std::move(on)),
        config(weights.config()),
        lengths(static_cast<std::size_t>(given.slots)) {
    check_weights(weights);
    check_options(config, options);
    check_heads(config, options.dtype, runtime->device());
    check_memory(config, options, *runtime);
    runtime->load_kernels(decode_kernels_source(config, options.dtype, options.slots), decode_kernel_names());
    runtime->on_stream([&] {
      model.emplace(weights, TransformerOptions{torch_type(options.dtype), runtime->device()});
      step.emplace(*model, *runtime, options.dtype, options.slots, options.slot_capacity);
      make_host_buffers();
      record();
    });
    runtime->synchronise();
  }

  //! In memory that the GPU can read and write while we do something else.
  void make_host_buffers() {
    const auto like = [&](const at::Tensor& tensor) {
      return at::zeros(tensor.sizes(),
                       at::TensorOptions(tensor.scalar_type()).pinned_memory(runtime->device().is_cuda()));
    };
    host_inputs = like(step->inputs());
    host_requests = like(step->requests());
    host_masks = like(step->masks());
    host_results = like(step->results());
  }

  void record() {
    clear_inputs();
    step->inputs().copy_(host_inputs);
    // Once as it comes: libraries make their workspaces, the driver loads the kernels.
    step->compute();
    step->compute_logits();
    step->keep_allowed();
    step->draw();
    runtime->synchronise();
    if (!options.recorded) return;
    recorded_step = runtime->record([this] { step->compute(); });
    recorded_draw = runtime->record([this] {
      step->compute_logits();
      step->draw();
    });
    recorded_masked_draw = runtime->record([this] {
      step->compute_logits();
      step->keep_allowed();
      step->draw();
    });
  }

  void clear_inputs() {
    auto* inputs = host_inputs.mutable_data_ptr<std::int32_t>();  // tokens, then positions
    std::fill_n(inputs, options.slots, 0);
    std::fill_n(inputs + options.slots, options.slots, -1);  // no token
  }

  //! The host's buffers may still be on their way to the GPU.
  void wait_for_copies() {
    if (is_busy) runtime->synchronise();
    is_busy = false;
  }

  std::int64_t& length_of(std::int64_t slot) {
    if (slot < 0 || slot >= options.slots)
      throw Error(fmt::format("there is no slot {}, only {}", slot, options.slots));
    return lengths[static_cast<std::size_t>(slot)];
  }

  void enter(const SlotToken& given) {
    check_tokens({&given.token, 1}, config.vocabulary);
    const std::int64_t length = length_of(given.slot);
    if (length == 0) throw Error(fmt::format("slot {} has not been started with a prompt", given.slot));
    if (length >= options.slot_capacity)
      throw Error(fmt::format("a text has reached the {} tokens that its slot holds; choose a larger context",
                              options.slot_capacity));
    auto* inputs = host_inputs.mutable_data_ptr<std::int32_t>();  // tokens, then positions
    if (inputs[options.slots + given.slot] >= 0) throw Error("a slot can take one token a step");
    inputs[given.slot] = given.token;
    inputs[options.slots + given.slot] = static_cast<std::int32_t>(length);
  }

  void run_step() {
    step->inputs().copy_(host_inputs, /*non_blocking=*/true);
    recorded_step ? recorded_step->play() : step->compute();
  }

  void run_draw(bool is_masked) {
    step->requests().copy_(host_requests, /*non_blocking=*/true);
    if (is_masked) step->masks().copy_(host_masks, /*non_blocking=*/true);
    if (RecordedWork* recorded = is_masked ? recorded_masked_draw.get() : recorded_draw.get()) return recorded->play();
    step->compute_logits();
    if (is_masked) step->keep_allowed();
    step->draw();
  }

  DrawRequest& request_of(std::int64_t slot) {
    return reinterpret_cast<DrawRequest*>(host_requests.mutable_data_ptr<std::uint8_t>())[slot];
  }

  void enter(const SlotDraw& given) {
    if (length_of(given.slot) == 0) throw Error(fmt::format("slot {} has not been started with a prompt", given.slot));
    DrawRequest& request = request_of(given.slot);
    if (request.is_wanted) throw Error("of a slot one token can be drawn at a time");
    if (given.draw.allowed) enter(given.slot, *given.draw.allowed);
    request = draw_request(given.draw);
  }

  //! Words of 64 bits are two of 32 here.
  void enter(std::int64_t slot, const AllowedTokens& allowed) {
    const std::size_t bytes = allowed.words.size() * sizeof(std::uint64_t);
    if (bytes != static_cast<std::size_t>(draw_mask_words(config)) * sizeof(std::int32_t))
      throw Error("the mask of allowed tokens is of another vocabulary");
    if (allowed.count() == 0) throw Error("no token is allowed to come next; the grammar has reached a dead end");
    auto* to = reinterpret_cast<unsigned char*>(host_masks.mutable_data_ptr<std::int32_t>());
    std::memcpy(to + static_cast<std::size_t>(slot) * bytes, allowed.words.data(), bytes);
  }

  //! What the GPU drew.
  DrawnToken drawn(const SlotDraw& given) {
    const DrawResult& result =
        reinterpret_cast<const DrawResult*>(host_results.const_data_ptr<std::uint8_t>())[given.slot];
    if (result.has_problem) throw ScoresNotNumbers();
    const bool is_forced = given.draw.allowed && given.draw.allowed->count() == 1;
    return {result.id, result.sampled_log_probability, result.policy_log_probability, is_forced};
  }

  std::vector<float> logits_of(std::int64_t slot) {
    const at::Tensor row = step->logits()[slot].to(at::kCPU, at::kFloat).contiguous();
    return {row.const_data_ptr<float>(), row.const_data_ptr<float>() + row.numel()};
  }

  GpuDecoderOptions options;
  std::shared_ptr<GpuRuntime> runtime;
  ModelConfig config;
  std::optional<Transformer> model;
  std::optional<DecodeStep> step;
  std::vector<std::int64_t> lengths;  //!< by slot: tokens it holds; 0: never started
  at::Tensor host_inputs, host_requests, host_masks, host_results;
  std::unique_ptr<RecordedWork> recorded_step, recorded_draw, recorded_masked_draw;
  bool is_busy = false;
};

GpuDecoder::GpuDecoder(const ModelWeights& weights, const GpuDecoderOptions& options,
                       std::shared_ptr<GpuRuntime> runtime)
    : parts_(guarded([&] { return std::make_unique<Parts>(weights, options, std::move(runtime)); })) {}

GpuDecoder::~GpuDecoder() {
  try {
    parts_->runtime->synchronise();
  } catch (const Error&) {  // somebody has heard of it already, or does not want to
  }
}

std::int64_t GpuDecoder::slots() const { return parts_->options.slots; }
std::int64_t GpuDecoder::slot_capacity() const { return parts_->options.slot_capacity; }
std::int64_t GpuDecoder::vocabulary() const { return parts_->config.vocabulary; }

std::shared_ptr<const ComputedPrompt> GpuDecoder::prefill(std::span<const std::int32_t> prompt) {
  Parts& parts = *parts_;
  const auto length = static_cast<std::int64_t>(prompt.size());
  if (length == 0) throw Error("a prompt without tokens cannot be continued; give it a first token");
  if (length > parts.options.slot_capacity)
    throw Error(fmt::format("the prompt has {} tokens, {} fit; shorten it or choose a larger context", length,
                            parts.options.slot_capacity));
  check_tokens(prompt, parts.config.vocabulary);
  const auto computed = std::make_shared<Prompt>();
  computed->owner = this;
  const std::vector<std::vector<std::int32_t>> sequence = {{prompt.begin(), prompt.end()}};
  guarded([&] {
    parts.runtime->on_stream([&] {
      const std::vector<std::int64_t> shape = {parts.config.layers, parts.config.kv_heads, length,
                                               parts.config.head_size};
      computed->keys = at::empty(shape, parts.step->keys().options());
      computed->values = at::empty(shape, parts.step->keys().options());
      const auto keep = [&](std::int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
        computed->keys[layer].copy_(keys.permute({1, 0, 2}));
        computed->values[layer].copy_(values.permute({1, 0, 2}));
      };
      const PackedTokens tokens = pack_tokens(sequence, parts.runtime->device());
      computed->last_hidden = parts.model->hidden_states(tokens, keep)[length - 1].clone();
    });
  });
  return computed;
}

void GpuDecoder::start(std::int64_t slot, const ComputedPrompt& prompt) {
  const auto* ours = dynamic_cast<const Prompt*>(&prompt);
  if (!ours || ours->owner != this) throw Error("a prompt can start slots of the decoder that computed it only");
  Parts& parts = *parts_;
  std::int64_t& length = parts.length_of(slot);
  guarded([&] {
    parts.runtime->on_stream([&] {
      parts.step->keys().select(1, slot).narrow(2, 0, ours->length()).copy_(ours->keys);
      parts.step->values().select(1, slot).narrow(2, 0, ours->length()).copy_(ours->values);
      parts.step->last_hidden()[slot].copy_(ours->last_hidden);
    });
  });
  length = ours->length();
}

void GpuDecoder::step(std::span<const SlotToken> tokens) {
  Parts& parts = *parts_;
  parts.wait_for_copies();
  parts.clear_inputs();
  for (const SlotToken& token : tokens) parts.enter(token);
  guarded([&] { parts.runtime->on_stream([&] { parts.run_step(); }); });
  parts.is_busy = true;
  for (const SlotToken& token : tokens) parts.length_of(token.slot) += 1;
}

std::vector<DrawnToken> GpuDecoder::draw(std::span<const SlotDraw> draws) {
  Parts& parts = *parts_;
  // The step may go on meanwhile: requests are copied after it, and read back before we return.
  for (std::int64_t slot = 0; slot < parts.options.slots; ++slot) parts.request_of(slot).is_wanted = 0;
  for (const SlotDraw& given : draws) parts.enter(given);
  const bool is_masked =
      std::ranges::any_of(draws, [](const SlotDraw& given) { return given.draw.allowed != nullptr; });
  return guarded([&] {
    parts.runtime->on_stream([&] {
      parts.run_draw(is_masked);
      parts.host_results.copy_(parts.step->results(), /*non_blocking=*/true);
    });
    parts.runtime->synchronise();
    parts.is_busy = false;
    std::vector<DrawnToken> drawn;
    for (const SlotDraw& given : draws) drawn.push_back(parts.drawn(given));
    return drawn;
  });
}

std::vector<float> GpuDecoder::logits(std::int64_t slot) {
  parts_->length_of(slot);
  return guarded([&] {
    std::vector<float> found;
    parts_->runtime->on_stream([&] {
      parts_->step->compute_logits();
      found = parts_->logits_of(slot);
    });
    return found;
  });
}

void GpuDecoder::wait() {
  parts_->runtime->synchronise();
  parts_->is_busy = false;
}

void GpuDecoder::set_parameters(const std::map<std::string, at::Tensor>& values) {
  guarded([&] {
    parts_->runtime->wait_for_everybody();
    parts_->runtime->on_stream([&] {
      for (const auto& [name, value] : values) {
        const at::Tensor& parameter = parts_->model->parameter(name);
        if (parameter.sizes() != value.sizes()) throw Error(fmt::format("{} has another shape", name));
        parameter.copy_(value);
      }
    });
    parts_->runtime->synchronise();  // whoever computed the values may change them now
  });
}

}  // namespace cudal1
