// A language model that learns, as the stages of training see it. There are no tensors here, so that stages compile in
// a second and tests can put a simpler learner in its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"
#include "model/sampling/token_sampler.hpp"
#include "train/grpo_loss.hpp"

namespace cudal1 {

//! A prompt and how often it is to be answered. Temperature 1, nothing cut off: what is sampled is the policy.
struct PromptToAnswer {
  std::string prompt;  //!< the user's message
  std::int64_t samples = 1;
  std::uint64_t seed = 0;  //!< the same one gives the same answers, whatever else is asked
  std::int64_t answer_tokens = 160;
  std::string grammar = {};  //!< GBNF that answers are held to: what is sampled is the policy among them; empty: none
};

struct SampledAnswer {
  std::vector<DrawnToken> tokens;  //!< as they were drawn, the one that ended it included; never made from the text
  std::string text;
  FinishReason finish = FinishReason::unknown;
};

//! What is to be said after a prompt.
struct PromptAndAnswer {
  std::string prompt, answer;
};

//! An answer of the model's own, and how much better or worse than its siblings it was.
struct WeighedAnswer {
  std::string prompt;
  std::vector<DrawnToken> tokens;
  double advantage = 0.0;
  std::string grammar = {};  //!< under which it was written, as in PromptToAnswer
  //! The policy has changed since: ratios are to the log-probabilities under which the tokens were drawn.
  bool by_earlier_policy = false;
};

//! What one update of the weights was made of.
struct SupervisedUpdate {
  double loss = 0.0;  //!< nats, mean over the tokens of answers
  double gradient_length = 0.0;
  std::int64_t tokens = 0;         //!< of prompts and answers together
  std::int64_t answer_tokens = 0;  //!< of answers
  std::string why_skipped = {};    //!< one line; empty: the weights have changed
};

struct PolicyUpdate {
  double loss = 0.0, policy_loss = 0.0;
  double kl = 0.0;             //!< nats a token, to the reference policy, before the update
  double clipped_share = 0.0;  //!< of tokens, at the last update
  double largest_ratio = 0.0;
  //! Mean over tokens of |log-probability when it was drawn - the trainer's|: that both have the same policy, but for
  //! the decoder's rounding. Of answers by an earlier policy also how far it has moved since.
  double sampler_gap = 0.0;
  double gradient_length = 0.0;
  std::int64_t tokens = 0;
  std::string why_skipped = {};
};

class LearningModel {
 public:
  virtual ~LearningModel() = default;

  virtual std::size_t count_tokens(std::string_view text) const = 0;
  //! Of each prompt its answers, in their order. Throws Error where a prompt does not fit.
  virtual std::vector<std::vector<SampledAnswer>> answers(std::span<const PromptToAnswer> prompts) = 0;

  //! One update by the mean log-probability of the answers' tokens.
  virtual SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) = 0;
  //! The same loss without an update.
  virtual double loss_of(std::span<const PromptAndAnswer> pairs) = 0;
  //! `updates` of the weights by the same answers. A loss that is not finite changes nothing.
  virtual PolicyUpdate improve(std::span<const WeighedAnswer> answers, const GrpoOptions& options, int updates,
                               double learning_rate) = 0;

  //! As it is now, it is the policy that improve() may not leave.
  virtual void keep_as_reference() = 0;
  //! What was learned of how to step is forgotten; what was learned is not.
  virtual void begin_stage() = 0;

  //! What was learned: an adapter in PEFT's format.
  virtual void save_adapter(const std::filesystem::path& folder) = 0;
  virtual void load_adapter(const std::filesystem::path& folder) = 0;
  //! How to step: the optimiser's state.
  virtual void save_optimiser(const std::filesystem::path& file) = 0;
  virtual void load_optimiser(const std::filesystem::path& file) = 0;

  virtual const std::string& base_sha256() const = 0;  //!< of the model's files
};

}  // namespace cudal1
