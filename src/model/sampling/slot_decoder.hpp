// What the sampling engine needs of a model: a fixed number of slots, each with a text that grows by a token a step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/sampling/token_sampler.hpp"

namespace cudal1 {

struct SlotToken {
  std::int64_t slot = 0;
  std::int32_t token = 0;
};

struct SlotDraw {
  std::int64_t slot = 0;
  TokenDraw draw;
};

//! A prompt that has been computed once and can start any number of slots.
class ComputedPrompt {
 public:
  virtual ~ComputedPrompt() = default;
  virtual std::int64_t length() const = 0;
};

//! A slot's tokens are the same to the last bit whatever the other slots hold and whichever slot it is.
class SlotDecoder {
 public:
  virtual ~SlotDecoder() = default;
  virtual std::int64_t slots() const = 0;
  virtual std::int64_t slot_capacity() const = 0;  //!< tokens of prompt and answer together
  virtual std::int64_t vocabulary() const = 0;

  //! Throws Error where the prompt is empty, longer than a slot, or has a token that the model lacks.
  virtual std::shared_ptr<const ComputedPrompt> prefill(std::span<const std::int32_t> prompt) = 0;
  //! The slot forgets what it held and continues after the prompt.
  virtual void start(std::int64_t slot, const ComputedPrompt& prompt) = 0;
  //! Appends one token to each of the named slots. Throws Error where one is full.
  virtual void step(std::span<const SlotToken> tokens) = 0;
  //! Draws what follows the last token of each of the named slots; does not append it.
  virtual std::vector<DrawnToken> draw(std::span<const SlotDraw> draws) = 0;
};

}  // namespace cudal1
