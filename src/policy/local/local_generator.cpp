#include "policy/local/local_generator.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/result.hpp"
#include "model/chat_model.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/open_model.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "model/transformer/lora.hpp"
#include "policy/local/grammar_constraint.hpp"

namespace cudal1 {
namespace {

constexpr int tokens_between_looks = 16;    // whether somebody asked to stop

}  // namespace

struct LocalGenerator::Parts {
  explicit Parts(const LocalGeneratorOptions& given) : options(given), chat(given.model) {
    // The decoder copies what it needs: merged weights, which are in fp32, go with this function.
    const auto merged_weights = options.adapter.empty() ? nullptr : with_adapter();
    decoder = made_decoder(merged_weights ? *merged_weights : chat.weights());
  }

  std::unique_ptr<SlotDecoder> made_decoder(const ModelWeights& used) const {
    const std::int64_t capacity = std::min(options.most_context, used.config().context);
    if (options.make_decoder) return options.make_decoder(used, options.slots, capacity);
    CpuDecoderOptions made;
    made.slots = options.slots;
    made.slot_capacity = capacity;
    made.threads = options.threads;
    return std::make_unique<CpuDecoder>(used, made);
  }

  std::unique_ptr<ModelWeights> with_adapter() {
    const LoraAdapter adapter = load_lora_adapter(options.adapter);
    warning = base_warning(adapter, model_sha256(options.model), options.adapter.string());
    return merged(chat.weights(), adapter, options.adapter.string());
  }

  SamplingRequest sampling_request(const GenerationRequest& request) const {
    SamplingRequest made;
    made.prompt = chat.prompt_tokens(request.messages);
    made.samples = request.samples;
    made.parameters = options.sampling;
    made.seed = sample_seed(options.seed, static_cast<std::int64_t>(request.first_sample));
    made.new_tokens = static_cast<std::int64_t>(request.answer_tokens);
    made.end_tokens = chat.end_tokens();
    return made;
  }

  GrammarConstraints& constraints_for(const std::string& grammar) {
    if (!constraints || constraints->grammar() != grammar)
      constraints.emplace(grammar, chat.tokenizer(), static_cast<std::size_t>(decoder->vocabulary()),
                          chat.end_tokens());
    return *constraints;
  }

  LocalGeneratorOptions options;
  ChatModel chat;
  std::unique_ptr<SlotDecoder> decoder;
  std::optional<GrammarConstraints> constraints;  //!< of the grammar that was asked for last
  std::string warning;
};

LocalGenerator::LocalGenerator(const LocalGeneratorOptions& options) : parts_(std::make_unique<Parts>(options)) {}
LocalGenerator::~LocalGenerator() = default;

std::vector<GeneratedText> LocalGenerator::generate(const GenerationRequest& request) {
  Parts& parts = *parts_;
  SamplingRequest asked = parts.sampling_request(request);
  if (!request.grammar.empty()) asked.constraint = parts.constraints_for(request.grammar).maker();
  SamplingEngine engine(*parts.decoder, [&](std::int32_t id) { return parts.chat.tokenizer().token_bytes(id); });
  const std::shared_ptr<void> turn = parts.options.take_turn ? parts.options.take_turn() : nullptr;
  std::vector<GeneratedText> texts;
  std::atomic<bool> cancelled = false;
  int tokens = 0;
  const auto look_up = [&](std::size_t, std::int64_t, const DrawnToken&) {
    if (++tokens % tokens_between_looks == 0 && parts.options.cancelled()) cancelled = true;
  };
  for (const Sample& sample : engine.run(std::span(&asked, 1), &cancelled, look_up)) {
    GeneratedText made{sample.text, finish_of(sample.reason), static_cast<std::int64_t>(asked.prompt.size()),
                       static_cast<std::int64_t>(sample.tokens.size())};
    if (sample.reason == SampleEnd::cancelled) made.failure = "cancelled";
    texts.push_back(std::move(made));
  }
  return texts;
}

std::size_t LocalGenerator::count_tokens(std::string_view text) const { return parts_->chat.count_tokens(text); }

std::size_t LocalGenerator::context_tokens() const {
  const auto capacity = static_cast<std::size_t>(parts_->decoder->slot_capacity());
  return capacity > tokens_of_form ? capacity - tokens_of_form : 0;
}

const std::string& LocalGenerator::warning() const { return parts_->warning; }

}  // namespace cudal1
