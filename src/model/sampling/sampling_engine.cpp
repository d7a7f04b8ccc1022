#include "model/sampling/sampling_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/random.hpp"
#include "base/result.hpp"
#include "model/sampling/stop_strings.hpp"

namespace cudal1 {
namespace {

void check_request(const SamplingRequest& request, const SlotDecoder& decoder) {
  check_parameters(request.parameters);
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  if (request.samples < 0) throw Error("the number of samples must not be negative");
  if (request.new_tokens <= 0) throw Error("the number of new tokens must be at least 1");
  if (prompt == 0) throw Error("a prompt without tokens cannot be continued; give it a first token");
  if (prompt > decoder.slot_capacity() || request.new_tokens > decoder.slot_capacity() - prompt)
    throw Error(
        fmt::format("a prompt of {} tokens and {} new ones exceed the context of {}; shorten the prompt, ask for "
                    "fewer new tokens or choose a larger context",
                    prompt, request.new_tokens, decoder.slot_capacity()));
  const StopStrings checked(request.stop_strings);
}

//! A sample in its slot.
class Writing {
 public:
  Writing(const SamplingRequest& request, Sample& sample, std::int64_t slot, std::int64_t vocabulary)
      : request_(request),
        sample_(sample),
        slot_(slot),
        seed_(sample_seed(request.seed, sample.index)),
        stops_(request.stop_strings),
        guard_(request.repetition),
        constraint_(request.constraint ? request.constraint() : nullptr),
        allowed_(constraint_ ? vocabulary : 0) {}

  std::int64_t slot() const { return slot_; }
  const Sample& sample() const { return sample_; }
  SlotToken last_token() const { return {slot_, sample_.tokens.back().id}; }

  SlotDraw next_draw() {
    const auto position = static_cast<std::int64_t>(request_.prompt.size() + sample_.tokens.size());
    if (constraint_) {
      allowed_.clear();
      constraint_->allow(allowed_);
    }
    return {slot_, {request_.parameters, seed_, position, constraint_ ? &allowed_ : nullptr}};
  }

  //! Whether the text ends with this token.
  bool add(const DrawnToken& token, const SamplingEngine::TokenBytes& token_bytes) {
    sample_.tokens.push_back(token);
    if (constraint_) constraint_->accept(token.id);
    const std::vector<std::int32_t>& ends = request_.end_tokens;
    if (std::find(ends.begin(), ends.end(), token.id) != ends.end())
      return finish(SampleEnd::end_token, stops_.text(), fmt::format("token {} ends the text", token.id));
    if (const std::optional<std::size_t> stop = stops_.add(token_bytes(token.id)))
      return finish(SampleEnd::stop_string, stops_.text().substr(0, *stop), stop_details(*stop));
    if (const std::optional<std::int64_t> period = guard_.add(token.id))
      return finish(SampleEnd::repetition, stops_.text(),
                    fmt::format("the last {} tokens are repeated again and again", *period));
    if (static_cast<std::int64_t>(sample_.tokens.size()) >= request_.new_tokens)
      return finish(SampleEnd::length, stops_.text(), fmt::format("{} new tokens were asked for", request_.new_tokens));
    return false;
  }

  void cancel() { finish(SampleEnd::cancelled, stops_.text(), "stopped before the text had ended"); }

 private:
  bool finish(SampleEnd reason, std::string text, std::string details) {
    sample_.reason = reason;
    sample_.text = std::move(text);
    sample_.details = std::move(details);
    return true;
  }

  std::string stop_details(std::size_t stop) const {
    for (const std::string& string : stops_.strings())
      if (stops_.text().compare(stop, string.size(), string) == 0) return fmt::format("stopped at '{}'", string);
    return {};
  }

  const SamplingRequest& request_;
  Sample& sample_;
  std::int64_t slot_;
  std::uint64_t seed_;
  StopStrings stops_;
  RepetitionGuard guard_;
  std::unique_ptr<TokenConstraint> constraint_;
  AllowedTokens allowed_;
};

//! Hands out samples in order and keeps a prompt for as long as samples of it wait.
class Queue {
 public:
  Queue(std::span<const SamplingRequest> requests, std::vector<Sample>& samples, SlotDecoder& decoder)
      : requests_(requests), samples_(samples), decoder_(decoder) {}

  bool empty() const { return next_ >= samples_.size(); }
  std::unique_ptr<Writing> start_next(std::int64_t slot) {
    Sample& sample = samples_[next_++];
    const SamplingRequest& request = requests_[sample.request];
    if (!prompt_ || prompt_request_ != sample.request) {
      prompt_ = nullptr;  // its memory goes before the next one takes some
      prompt_ = decoder_.prefill(request.prompt);
      prompt_request_ = sample.request;
    }
    decoder_.start(slot, *prompt_);
    return std::make_unique<Writing>(request, sample, slot, decoder_.vocabulary());
  }

 private:
  std::span<const SamplingRequest> requests_;
  std::vector<Sample>& samples_;
  SlotDecoder& decoder_;
  std::size_t next_ = 0, prompt_request_ = 0;
  std::shared_ptr<const ComputedPrompt> prompt_;
};

using Writings = std::vector<std::unique_ptr<Writing>>;

//! Draws a token for each; those whose texts end with it leave their slots.
Writings unfinished_after_draw(SlotDecoder& decoder, const SamplingEngine::TokenBytes& token_bytes, Writings writings,
                               const SamplingEngine::OnToken& on_token, std::vector<std::int64_t>& free_slots) {
  std::vector<SlotDraw> draws;
  for (const auto& writing : writings) draws.push_back(writing->next_draw());
  const std::vector<DrawnToken> drawn = decoder.draw(draws);
  Writings unfinished;
  for (std::size_t i = 0; i < writings.size(); ++i) {
    if (on_token) on_token(writings[i]->sample().request, writings[i]->sample().index, drawn[i]);
    if (writings[i]->add(drawn[i], token_bytes))
      free_slots.push_back(writings[i]->slot());
    else
      unfinished.push_back(std::move(writings[i]));
  }
  return unfinished;
}

std::vector<Sample> waiting_samples(std::span<const SamplingRequest> requests) {
  std::vector<Sample> samples;
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::int64_t index = 0; index < requests[request].samples; ++index) {
      samples.emplace_back();
      samples.back().request = request;
      samples.back().index = index;
      samples.back().details = "stopped before it began";
    }
  return samples;
}

}  // namespace

FinishReason finish_of(SampleEnd reason) {
  switch (reason) {
    case SampleEnd::end_token:
    case SampleEnd::stop_string:
      return FinishReason::stop;
    case SampleEnd::length:
    case SampleEnd::repetition:
      return FinishReason::length;
    case SampleEnd::cancelled:
      break;
  }
  return FinishReason::unknown;
}

std::string_view to_string(SampleEnd reason) {
  switch (reason) {
    case SampleEnd::end_token:
      return "end_token";
    case SampleEnd::stop_string:
      return "stop_string";
    case SampleEnd::length:
      return "length";
    case SampleEnd::repetition:
      return "repetition";
    case SampleEnd::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::uint64_t sample_seed(std::uint64_t seed, std::int64_t index) {
  return Random(Random(seed).next() + static_cast<std::uint64_t>(index)).next();
}

SamplingEngine::SamplingEngine(SlotDecoder& decoder, TokenBytes token_bytes)
    : decoder_(decoder), token_bytes_(std::move(token_bytes)) {}

std::vector<Sample> SamplingEngine::run(std::span<const SamplingRequest> requests, const std::atomic<bool>* cancelled,
                                        const OnToken& on_token, const std::function<void()>& between_steps) {
  for (const SamplingRequest& request : requests) check_request(request, decoder_);
  std::vector<Sample> samples = waiting_samples(requests);
  Queue queue(requests, samples, decoder_);
  Writings writings;
  std::vector<std::int64_t> free_slots;
  for (std::int64_t slot = decoder_.slots() - 1; slot >= 0; --slot) free_slots.push_back(slot);
  const auto is_cancelled = [&] { return cancelled && cancelled->load(std::memory_order_relaxed); };
  while (!is_cancelled()) {
    while (!queue.empty() && !free_slots.empty() && !is_cancelled()) {
      writings.push_back(queue.start_next(free_slots.back()));
      free_slots.pop_back();
    }
    if (writings.empty()) break;
    writings = unfinished_after_draw(decoder_, token_bytes_, std::move(writings), on_token, free_slots);
    if (between_steps) between_steps();
    std::vector<SlotToken> tokens;
    for (const auto& writing : writings) tokens.push_back(writing->last_token());
    if (!tokens.empty()) decoder_.step(tokens);
  }
  for (const auto& writing : writings) writing->cancel();
  return samples;
}

}  // namespace cudal1
