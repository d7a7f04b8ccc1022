#include "train/rollout/adapter_model.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "accelerator/cuda_decoder.hpp"
#include "accelerator/cuda_runtime.hpp"
#include "base/result.hpp"
#include "model/chat_model.hpp"
#include "model/files/open_model.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "model/transformer/lora.hpp"
#include "policy/local/grammar_constraint.hpp"
#include "train/parallel/process_group.hpp"
#include "train/rollout/answer_grammars.hpp"
#include "train/rollout/share_of_threads.hpp"
#include "train/rollout/shared_texts.hpp"
#include "train/training_step.hpp"

namespace cudal1 {
namespace {

constexpr const char* policy_name = "policy";
constexpr const char* reference_name = "reference";

at::ScalarType dtype_of(const std::string& name) {
  return name == "bf16" ? at::kBFloat16 : name == "f16" ? at::kHalf : at::kFloat;
}

GpuDtype decoder_dtype_of(const std::string& name) {
  return name == "bf16" ? GpuDtype::bf16 : name == "f16" ? GpuDtype::f16 : GpuDtype::f32;
}

//! What improve() knows of a part of its texts, in the order of a batch's targets.
struct PolicyPart {
  TrainingBatch batch;
  std::vector<float> old, reference, advantages, weights;
  std::vector<std::uint8_t> by_earlier_policy;
  double sampler_gap = 0.0;  //!< sum over these

  GrpoTokens tokens() const { return {old, reference, advantages, weights, by_earlier_policy}; }
};

void add(GrpoLoss& sum, const GrpoLoss& part) {
  sum.loss += part.loss;
  sum.policy_loss += part.policy_loss;
  sum.kl += part.kl;
  sum.clipped += part.clipped;
  sum.largest_ratio = std::max(sum.largest_ratio, part.largest_ratio);
}

}  // namespace

struct AdapterModel::Parts {
  explicit Parts(const AdapterModelOptions& given)
      : options(given),
        group(given.group != nullptr ? *given.group : alone),
        chat(given.model),
        sha256(model_sha256(given.model)),
        grammars(vocabulary_of(chat.tokenizer(), static_cast<std::size_t>(chat.weights().config().vocabulary),
                               chat.end_tokens())),
        model(chat.weights(), transformer_options()) {
    if (options.on_gpu) runtime = std::make_shared<CudaRuntime>(0);
    model.add_adapter(policy_name, first_adapter());
    new_step();
  }

  TransformerOptions transformer_options() const {
    const at::Device device = options.on_gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    return {.dtype = dtype_of(options.dtype), .device = device};
  }

  LoraAdapter first_adapter() const {
    LoraAdapter adapter = options.adapter.empty()
                              ? new_adapter(chat.weights().config(), options.rank, options.alpha, options.seed)
                              : load_lora_adapter(options.adapter);
    if (const std::string warning = base_warning(adapter, sha256, options.adapter.string()); !warning.empty())
      throw Error(warning);
    require_same("rank", static_cast<double>(options.rank), static_cast<double>(adapter.rank));
    require_same("alpha", options.alpha, adapter.alpha);
    adapter.base_name = options.model.filename().string();
    adapter.base_sha256 = sha256;
    return adapter;
  }

  //! What is asked for and what the adapter has: the run's configuration should not say what is not so.
  void require_same(const char* key, double asked, double found) const {
    if (asked == found) return;
    throw Error(fmt::format("model.{} is {}, but {} has {}; set model.{}={}", key, asked, options.adapter.string(),
                            found, key, found));
  }

  //! An optimiser that knows nothing yet.
  void new_step() {
    step.reset();
    TrainingStepOptions made{
        .adapter = policy_name, .weight_decay = options.weight_decay, .longest_gradient = options.longest_gradient};
    if (group.size() > 1) made.add_others = [this](at::Tensor& gradients) { add_others(gradients); };
    step = std::make_unique<TrainingStep>(model, made, runtime);
  }

  //! Through the host's memory, wherever they are: those of an adapter are few.
  void add_others(at::Tensor& gradients) {
    at::Tensor here = gradients.to(at::kCPU).contiguous();
    group.add_up(std::span(here.mutable_data_ptr<float>(), static_cast<std::size_t>(here.numel())));
    if (!here.is_same(gradients)) gradients.copy_(here);
  }

  std::shared_ptr<void> turn() const { return options.turns.take ? options.turns.take() : nullptr; }

  //! At the end of a turn on which something was copied or made, on whichever stream: nothing of it is left to do.
  void finish() const {
    if (runtime) runtime->wait_for_everybody();
  }

  //! Between two pieces of work on a turn; what was drawn from the decoder has been read.
  void let_others_measure() const {
    if (!options.turns.is_due || !options.turns.is_due()) return;
    step->wait();
    options.turns.let_pass();
  }

  //! What was learned, in the host's memory: nobody waits for the GPU while it is written to a disk.
  LoraAdapter copy_of_policy() const {
    const std::shared_ptr<void> of_gpu = turn();
    step->wait();
    return model.adapter(policy_name);
  }

  void put(const char* name, const LoraAdapter& adapter) {
    check_adapter(adapter, model.config(), name);
    if (!has_reference && std::string_view(name) == reference_name) {
      model.add_adapter(name, adapter);
      has_reference = true;
      return;
    }
    const at::NoGradGuard no_gradients;
    for (auto& [path, tensor] : model.adapter_parameters(name))
      tensor.copy_(values_of(adapter, path).view(tensor.sizes()));
  }

  //! "model.layers.0.self_attn.q_proj.lora_A"
  static at::Tensor values_of(const LoraAdapter& adapter, const std::string& path) {
    const auto dot = path.rfind('.');
    const auto module = adapter.modules.find(path.substr(0, dot));
    if (module == adapter.modules.end()) throw Error(fmt::format("the adapter has nothing for {}", path));
    return at::tensor(path.substr(dot + 1) == "lora_A" ? module->second.a : module->second.b);
  }

  SlotDecoder& current_decoder() {
    if (decoder && !has_learned) return *decoder;
    step->wait();
    if (gpu_decoder != nullptr)
      gpu_decoder->set_parameters(merged_parameters());
    else
      make_decoder();
    has_learned = false;
    return *decoder;
  }

  void make_decoder() {
    decoder.reset();
    const auto weights = merged(chat.weights(), model.adapter(policy_name), policy_name);
    const std::int64_t capacity = std::min(options.context_tokens, chat.weights().config().context);
    if (!options.on_gpu) {
      decoder =
          std::make_unique<CpuDecoder>(*weights, CpuDecoderOptions{.slots = options.slots, .slot_capacity = capacity});
      return;
    }
    auto made = make_cuda_decoder(
        *weights, {.dtype = decoder_dtype_of(options.dtype), .slots = options.slots, .slot_capacity = capacity});
    gpu_decoder = made.get();
    decoder = std::move(made);
  }

  //! From the files' weights in fp32, which stay on the GPU for it.
  std::map<std::string, at::Tensor> merged_parameters() {
    const std::map<std::string, at::Tensor> adapter = model.adapter_parameters(policy_name);
    std::map<std::string, at::Tensor> merged;
    for (const auto& [path, a] : adapter) {
      if (!path.ends_with(".lora_A")) continue;
      const std::string layer = path.substr(0, path.rfind('.'));
      const at::Tensor& b = adapter.at(layer + ".lora_B");
      merged[layer + ".weight"] =
          at::addmm(base_weight(layer + ".weight"), b.detach(), a.detach(), 1.0, model.adapter_scale(policy_name));
    }
    return merged;
  }

  const at::Tensor& base_weight(const std::string& name) {
    at::Tensor& known = base_weights[name];
    if (known.defined()) return known;
    const WeightTensor* weight = chat.weights().find(name);
    if (weight == nullptr) throw Error(fmt::format("the model has no weight {}", name));
    const at::Tensor values = at::empty(weight->shape, at::kFloat);
    dequantise(*weight, {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    return known = values.to(model.options().device);
  }

  std::vector<std::int32_t> prompt_tokens(const std::string& prompt) const {
    const ChatMessage message{ChatMessage::Role::user, prompt};
    return chat.prompt_tokens({&message, 1});
  }

  SamplingRequest sampling_request(const PromptToAnswer& asked) {
    SamplingRequest made;
    made.prompt = prompt_tokens(asked.prompt);
    made.samples = asked.samples;
    made.seed = asked.seed;
    made.new_tokens = asked.answer_tokens;
    made.end_tokens = chat.end_tokens();
    if (!asked.grammar.empty()) made.constraint = grammars.constraint(asked.grammar);
    return made;
  }

  //! Weights such that the loss is the mean over all tokens of answers.
  std::vector<TrainingText> supervised_texts(std::span<const PromptAndAnswer> pairs,
                                             std::int64_t& answer_tokens) const {
    std::vector<TrainingText> texts;
    std::vector<std::size_t> lengths;
    for (const PromptAndAnswer& pair : pairs) {
      const std::vector<std::int32_t> answer = chat.answer_tokens(pair.answer);
      texts.push_back(text_of(prompt_tokens(pair.prompt), answer));
      lengths.push_back(answer.size());
    }
    answer_tokens = static_cast<std::int64_t>(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
    for (std::size_t i = 0; i < texts.size(); ++i)
      std::fill(texts[i].weights.end() - static_cast<std::ptrdiff_t>(lengths[i]), texts[i].weights.end(),
                1.0F / static_cast<float>(answer_tokens));
    return texts;
  }

  double weighed_loss(const TrainingBatch& batch, const at::Tensor& log_probabilities) {
    const std::vector<float> numbers = step->read(log_probabilities), weights = step->read(batch.weights);
    double loss = 0.0;
    for (std::size_t i = 0; i < numbers.size(); ++i) loss -= static_cast<double>(weights[i]) * numbers[i];
    return loss;
  }

  //! The samples with their weights, and of each token that counts its sample's advantage.
  std::vector<TrainingText> policy_texts(std::span<const WeighedAnswer> answers, const GrpoOptions& grpo) const {
    std::vector<FreeTokens> free;
    for (const WeighedAnswer& answer : answers) {
      free.emplace_back();
      for (const DrawnToken& token : answer.tokens) free.back().push_back(token.forced ? 0 : 1);
    }
    const std::vector<std::vector<float>> weights = grpo_token_weights(free, grpo.normalisation);
    std::vector<TrainingText> texts;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::vector<std::int32_t> ids;
      for (const DrawnToken& token : answers[i].tokens) ids.push_back(token.id);
      texts.push_back(text_of(prompt_tokens(answers[i].prompt), ids));
      std::copy(weights[i].begin(), weights[i].end(),
                texts.back().weights.end() - static_cast<std::ptrdiff_t>(ids.size()));
    }
    return texts;
  }

  //! What else could have been said, so that the policy is the one that sampled.
  void add_masks(std::vector<TrainingText>& texts, std::span<const WeighedAnswer> answers) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (answers[i].grammar.empty()) continue;
      const auto masks = grammars.of(answers[i].grammar)->allowed_along(answers[i].tokens);
      texts[i].allowed.resize(texts[i].tokens.size());
      std::ranges::copy(masks, texts[i].allowed.end() - std::ssize(masks));
    }
  }

  std::vector<float> reference_log_probabilities(const TrainingBatch& batch) {
    if (!has_reference) throw Error("there is no reference policy yet: keep_as_reference() comes first");
    const at::NoGradGuard no_gradients;
    at::Tensor hidden, found;
    const auto compute = [&] {
      model.use_adapter(reference_name);
      hidden = model.hidden_states(batch.tokens).index_select(0, batch.rows);
      if (!batch.allowed.defined()) found = model.log_probabilities(hidden, batch.targets);
      model.use_adapter("");
    };
    runtime ? runtime->on_stream(compute) : compute();
    return step->read(batch.allowed.defined() ? step->log_probabilities_of(hidden, batch) : found);
  }

  PolicyPart policy_part(std::span<const TrainingText> texts, std::span<const WeighedAnswer> answers) {
    PolicyPart part;
    part.batch = step->pack(texts);
    part.old = step->read(step->log_probabilities(part.batch));
    part.reference = reference_log_probabilities(part.batch);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::size_t token = 1; token < texts[i].tokens.size(); ++token)
        if (texts[i].weights[token] != 0.0F) {
          const std::size_t drawn = token + answers[i].tokens.size() - texts[i].tokens.size();
          const float when_drawn = answers[i].tokens[drawn].policy_log_probability;
          float& old = part.old[part.weights.size()];
          part.sampler_gap += std::abs(static_cast<double>(when_drawn) - old);
          if (answers[i].by_earlier_policy) old = when_drawn;
          part.weights.push_back(texts[i].weights[token]);
          part.advantages.push_back(static_cast<float>(answers[i].advantage));
          part.by_earlier_policy.push_back(answers[i].by_earlier_policy ? 1 : 0);
        }
    return part;
  }

  //! Adds the gradients of a part. Numbers that are not finite become slopes that are not: the update is left out then.
  void accumulate(const PolicyPart& part, const GrpoOptions& grpo, GrpoLoss& sum, std::string& problem) {
    step->accumulate(part.batch, [&](const at::Tensor& log_probabilities, std::int64_t first) {
      const at::Tensor here = log_probabilities.to(at::kCPU).contiguous();
      const std::span<const float> now(here.const_data_ptr<float>(), static_cast<std::size_t>(here.numel()));
      const auto loss = grpo_loss(now, part.tokens().part(static_cast<std::size_t>(first), now.size()), grpo);
      if (!loss) {
        problem = loss.failure().message;
        return at::full_like(log_probabilities, std::numeric_limits<float>::quiet_NaN());
      }
      add(sum, loss.value());
      return at::tensor(loss.value().slopes).to(log_probabilities.device());
    });
  }

  PolicyUpdate update(const std::vector<PolicyPart>& parts, const GrpoOptions& grpo, double learning_rate) {
    PolicyUpdate made;
    GrpoLoss sum;
    double tokens = 0.0, sampler_gap = 0.0;
    for (const PolicyPart& part : parts) {
      accumulate(part, grpo, sum, made.why_skipped);
      let_others_measure();
      sampler_gap += part.sampler_gap;
      tokens += static_cast<double>(part.weights.size());
    }
    made.gradient_length = step->read(step->update(learning_rate)).front();
    made.why_skipped = group.first_said(made.why_skipped);
    if (made.why_skipped.empty() && !std::isfinite(made.gradient_length))
      made.why_skipped = "the gradient is not finite";
    std::array<double, 6> sums{sum.loss, sum.policy_loss, sum.kl, static_cast<double>(sum.clipped),
                               tokens,   sampler_gap};
    group.add_up(std::span(sums));
    made.loss = sums[0];
    made.policy_loss = sums[1];
    made.kl = sums[2];
    made.clipped_share = sums[4] > 0.0 ? sums[3] / sums[4] : 0.0;
    made.sampler_gap = sums[4] > 0.0 ? sums[5] / sums[4] : 0.0;
    made.largest_ratio = group.largest(sum.largest_ratio);
    return made;
  }

  AdapterModelOptions options;
  ProcessGroup alone;
  ProcessGroup& group;
  ChatModel chat;
  std::string sha256;
  AnswerGrammars grammars;
  std::shared_ptr<GpuRuntime> runtime;
  Transformer model;
  bool has_reference = false;
  std::unique_ptr<TrainingStep> step;
  std::unique_ptr<SlotDecoder> decoder;
  GpuDecoder* gpu_decoder = nullptr;  //!< the decoder, where it is one
  bool has_learned = false;           //!< since the decoder got its weights
  std::map<std::string, at::Tensor> base_weights;
};

AdapterModel::AdapterModel(const AdapterModelOptions& options) : parts_(std::make_unique<Parts>(options)) {}
AdapterModel::~AdapterModel() = default;

std::size_t AdapterModel::count_tokens(std::string_view text) const { return parts_->chat.count_tokens(text); }

std::vector<std::vector<SampledAnswer>> AdapterModel::answers(std::span<const PromptToAnswer> prompts) {
  const std::shared_ptr<void> turn = parts_->turn();
  std::vector<SamplingRequest> requests;
  for (const PromptToAnswer& prompt : prompts) requests.push_back(parts_->sampling_request(prompt));
  SamplingEngine engine(parts_->current_decoder(),
                        [this](std::int32_t id) { return parts_->chat.tokenizer().token_bytes(id); });
  std::vector<std::vector<SampledAnswer>> answers(prompts.size());
  const auto between_steps = [this] { parts_->let_others_measure(); };
  for (Sample& sample : engine.run(requests, nullptr, {}, between_steps))
    answers[sample.request].push_back({std::move(sample.tokens), std::move(sample.text), finish_of(sample.reason)});
  return answers;
}

SupervisedUpdate AdapterModel::learn(std::span<const PromptAndAnswer> pairs, double learning_rate) {
  const std::shared_ptr<void> turn = parts_->turn();
  SupervisedUpdate update;
  const std::vector<TrainingText> texts = parts_->supervised_texts(pairs, update.answer_tokens);
  update.tokens = all_tokens(texts);
  const ShareOfThreads threads(parts_->group.size());
  const std::vector<TrainingText> own = those_at<TrainingText>(own_share(texts, parts_->group), texts);
  std::vector<std::pair<TrainingBatch, at::Tensor>> found;  // read when everything has been asked for
  for (const auto& [first, count] : parts_of(own, parts_->options.tokens_at_once)) {
    TrainingBatch batch = parts_->step->pack(std::span(own).subspan(first, count));
    const at::Tensor log_probabilities = parts_->step->accumulate(batch);
    found.emplace_back(std::move(batch), log_probabilities);
    parts_->let_others_measure();
  }
  const at::Tensor norm = parts_->step->update(learning_rate);
  for (const auto& [batch, log_probabilities] : found) update.loss += parts_->weighed_loss(batch, log_probabilities);
  parts_->group.add_up(std::span(&update.loss, 1));
  update.gradient_length = parts_->step->read(norm).front();
  if (!std::isfinite(update.gradient_length)) update.why_skipped = "the gradient is not finite";
  parts_->has_learned = true;
  return update;
}

double AdapterModel::loss_of(std::span<const PromptAndAnswer> pairs) {
  const std::shared_ptr<void> turn = parts_->turn();
  std::int64_t answer_tokens = 0;
  const std::vector<TrainingText> texts = parts_->supervised_texts(pairs, answer_tokens);
  double loss = 0.0;
  for (const auto& [first, count] : parts_of(texts, parts_->options.tokens_at_once)) {
    const TrainingBatch batch = parts_->step->pack(std::span(texts).subspan(first, count));
    loss += parts_->weighed_loss(batch, parts_->step->log_probabilities(batch));
    parts_->let_others_measure();
  }
  return loss;
}

PolicyUpdate AdapterModel::improve(std::span<const WeighedAnswer> answers, const GrpoOptions& options, int updates,
                                   double learning_rate) {
  const std::shared_ptr<void> turn = parts_->turn();
  const std::vector<TrainingText> texts = parts_->policy_texts(answers, options);
  const ShareOfThreads threads(parts_->group.size());
  const std::vector<std::size_t> share = own_share(texts, parts_->group);
  std::vector<TrainingText> own = those_at<TrainingText>(share, texts);
  const std::vector<WeighedAnswer> own_answers = those_at(share, answers);
  parts_->add_masks(own, own_answers);
  std::vector<PolicyPart> parts;
  for (const auto& [first, count] : parts_of(own, parts_->options.tokens_at_once)) {
    parts.push_back(
        parts_->policy_part(std::span(own).subspan(first, count), std::span(own_answers).subspan(first, count)));
    parts_->let_others_measure();
  }
  PolicyUpdate made;
  for (int i = 0; i < updates && made.why_skipped.empty(); ++i) {
    const double kl_before = made.kl;
    made = parts_->update(parts, options, learning_rate);
    if (i > 0) made.kl = kl_before;
  }
  made.tokens = all_tokens(texts);
  parts_->has_learned = true;
  return made;
}

void AdapterModel::keep_as_reference() {
  const std::shared_ptr<void> turn = parts_->turn();
  parts_->put(reference_name, parts_->model.adapter(policy_name));
  parts_->finish();
}

void AdapterModel::begin_stage() {
  const std::shared_ptr<void> turn = parts_->turn();
  parts_->new_step();
  parts_->finish();
}

void AdapterModel::save_adapter(const std::filesystem::path& folder) {
  save_lora_adapter(parts_->copy_of_policy(), parts_->model.config(), folder);
}

void AdapterModel::load_adapter(const std::filesystem::path& folder) {
  const LoraAdapter adapter = load_lora_adapter(folder);
  if (const std::string warning = base_warning(adapter, parts_->sha256, folder.string()); !warning.empty())
    throw Error(warning);
  const std::shared_ptr<void> turn = parts_->turn();
  parts_->put(policy_name, adapter);
  parts_->new_step();
  parts_->finish();
  parts_->has_learned = true;
}

void AdapterModel::save_optimiser(const std::filesystem::path& file) {
  const std::shared_ptr<void> turn = parts_->turn();
  parts_->step->save(file);
}

void AdapterModel::load_optimiser(const std::filesystem::path& file) {
  const std::shared_ptr<void> turn = parts_->turn();
  parts_->step->load(file);
  parts_->finish();
}

const std::string& AdapterModel::base_sha256() const { return parts_->sha256; }

}  // namespace cudal1
