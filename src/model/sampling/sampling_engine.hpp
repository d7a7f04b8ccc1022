// Writes many texts at once: samples take turns in a decoder's slots, a free slot goes to the next one that waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"
#include "model/sampling/repetition_guard.hpp"
#include "model/sampling/slot_decoder.hpp"
#include "model/sampling/token_sampler.hpp"

namespace cudal1 {

//! Says which tokens may come next in one text; a grammar, for example.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  //! `allowed` allows nothing when it comes.
  virtual void allow(AllowedTokens& allowed) = 0;
  virtual void accept(std::int32_t token) = 0;
};

//! One prompt and how often it is to be answered.
struct SamplingRequest {
  std::vector<std::int32_t> prompt;
  std::int64_t samples = 1;
  SamplingParameters parameters;
  std::uint64_t seed = 0;  //!< each sample draws with sample_seed(seed, its index)
  std::int64_t new_tokens = 256;
  std::vector<std::int32_t> end_tokens;   //!< end a text; kept among its tokens, not in its text
  std::vector<std::string> stop_strings;  //!< end a text, which is cut before them
  RepetitionLimits repetition;
  std::function<std::unique_ptr<TokenConstraint>()> constraint;  //!< called for each sample; empty: none
};

enum class SampleEnd { end_token, stop_string, length, repetition, cancelled };
std::string_view to_string(SampleEnd reason);
//! Of a text that turned in circles: it had no more tokens, for it would have gone on for ever.
FinishReason finish_of(SampleEnd reason);

struct Sample {
  std::size_t request = 0;
  std::int64_t index = 0;          //!< among the samples of its request
  std::vector<DrawnToken> tokens;  //!< as they were drawn, the one that ended the text included
  std::string text;                //!< their bytes, without end token and stop string
  SampleEnd reason = SampleEnd::cancelled;
  std::string details;  //!< which stop string, what loop; for people
};

//! The seed of one of a request's samples.
std::uint64_t sample_seed(std::uint64_t seed, std::int64_t index);

class SamplingEngine {
 public:
  using TokenBytes = std::function<std::string_view(std::int32_t)>;  //!< valid until the next call
  using OnToken = std::function<void(std::size_t request, std::int64_t sample, const DrawnToken& token)>;
  //! The decoder must outlive the engine.
  SamplingEngine(SlotDecoder& decoder, TokenBytes token_bytes);

  //! All samples of all requests, by request and index; a prompt is computed once for all of its samples. Throws Error
  //! before anything is computed where a prompt with its new tokens does not fit a slot, or a parameter makes no sense.
  //! When `cancelled` becomes true, what is under way is returned as it is, samples that never began without tokens.
  //! `on_token`, where given, hears of every token as it is drawn; `between_steps` is called whenever all texts that
  //! are under way have got one, while the decoder computes nothing.
  std::vector<Sample> run(std::span<const SamplingRequest> requests, const std::atomic<bool>* cancelled = nullptr,
                          const OnToken& on_token = {}, const std::function<void()>& between_steps = {});

 private:
  SlotDecoder& decoder_;
  TokenBytes token_bytes_;
};

}  // namespace cudal1
