#include "model/transformer/cpu/cpu_decoder.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/result.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

struct Case {
  Architecture architecture;
  CpuWeights weights;
};

class CpuDecoderTest : public testing::TestWithParam<Case> {
 protected:
  CpuDecoderTest() : weights(small_config(GetParam().architecture)) { fill_randomly(weights, 31); }
  CpuDecoder decoder(std::int64_t slots, int threads = 2) const {
    return CpuDecoder(weights, {GetParam().weights, slots, 64, threads});
  }
  WeightsInMemory weights;
};

std::vector<float> values(std::span<const float> logits) { return {logits.begin(), logits.end()}; }

//! The scores after the prompt and after each of the tokens that follow it, in one slot.
std::vector<std::vector<float>> scores_of(CpuDecoder& decoder, std::int64_t slot,
                                          const std::vector<std::int32_t>& prompt,
                                          const std::vector<std::int32_t>& continuation) {
  decoder.start(slot, *decoder.prefill(prompt));
  std::vector<std::vector<float>> scores = {values(decoder.logits(slot))};
  for (const std::int32_t token : continuation) {
    decoder.step(std::vector<SlotToken>{{slot, token}});
    scores.push_back(values(decoder.logits(slot)));
  }
  return scores;
}

TEST_P(CpuDecoderTest, StepsGiveWhatAPromptOfTheSameTokensGives) {
  CpuDecoder alone = decoder(1);
  const std::vector<std::int32_t> tokens = random_tokens(40, 96, 1);
  const std::vector<std::int32_t> prompt(tokens.begin(), tokens.begin() + 17), rest(tokens.begin() + 17, tokens.end());
  const std::vector<std::vector<float>> scores = scores_of(alone, 0, prompt, rest);
  const std::vector<float> all = alone.all_logits(tokens);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto* at_position = all.data() + (16 + i) * 96;
    EXPECT_EQ(scores[i], std::vector<float>(at_position, at_position + 96)) << "after token " << 16 + i;
  }
}

TEST_P(CpuDecoderTest, ASlotIsBitEqualWhateverTheOthersHold) {
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 2), rest = random_tokens(12, 96, 3);
  CpuDecoder alone = decoder(1, 1);
  const std::vector<std::vector<float>> expected = scores_of(alone, 0, prompt, rest);
  CpuDecoder crowded = decoder(11);
  for (std::int64_t slot = 0; slot < 11; ++slot)
    crowded.start(slot,
                  *crowded.prefill(slot == 5 ? prompt : random_tokens(3 + static_cast<std::size_t>(slot), 96, 4)));
  EXPECT_EQ(values(crowded.logits(5)), expected[0]);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    std::vector<SlotToken> tokens = {{5, rest[i]}};
    for (std::int64_t slot = 0; slot < 11; ++slot)  // another number of neighbours each time, on both sides
      if (slot != 5 && slot < static_cast<std::int64_t>(i))
        tokens.insert(slot % 2 == 0 ? tokens.begin() : tokens.end(), {slot, static_cast<std::int32_t>(i)});
    crowded.step(tokens);
    EXPECT_EQ(values(crowded.logits(5)), expected[i + 1]) << "beside " << tokens.size() - 1;
  }
}

TEST_P(CpuDecoderTest, SlotsThatShareAPromptContinueItEachAlone) {
  CpuDecoder shared = decoder(3);
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 5);
  const auto computed = shared.prefill(prompt);
  for (std::int64_t slot = 0; slot < 3; ++slot) shared.start(slot, *computed);
  shared.step(std::vector<SlotToken>{{0, 1}, {1, 2}, {2, 1}});
  shared.step(std::vector<SlotToken>{{0, 3}, {1, 3}, {2, 3}});
  CpuDecoder alone = decoder(1);
  EXPECT_EQ(values(shared.logits(0)), scores_of(alone, 0, prompt, {1, 3}).back());
  EXPECT_EQ(values(shared.logits(1)), scores_of(alone, 0, prompt, {2, 3}).back());
  EXPECT_EQ(values(shared.logits(2)), values(shared.logits(0)));
  EXPECT_NE(values(shared.logits(1)), values(shared.logits(0)));
}

TEST_P(CpuDecoderTest, ASlotThatIsUsedAgainForgetsWhatItHeld) {
  CpuDecoder used = decoder(1);
  const std::vector<std::int32_t> prompt = random_tokens(5, 96, 6), rest = random_tokens(4, 96, 7);
  const std::vector<std::vector<float>> expected = scores_of(used, 0, prompt, rest);
  scores_of(used, 0, random_tokens(30, 96, 8), random_tokens(10, 96, 9));
  EXPECT_EQ(scores_of(used, 0, prompt, rest), expected);
}

TEST_P(CpuDecoderTest, WhatDoesNotFitIsRefusedInOneLine) {
  CpuDecoder small = decoder(1);
  EXPECT_THROW(small.prefill({}), Error);
  EXPECT_THROW(small.prefill(random_tokens(65, 96, 1)), Error);
  EXPECT_THROW(small.prefill(std::vector<std::int32_t>{96}), Error);
  EXPECT_THROW(small.prefill(std::vector<std::int32_t>{-1}), Error);
  small.start(0, *small.prefill(random_tokens(64, 96, 1)));
  EXPECT_THROW(small.step(std::vector<SlotToken>{{0, 1}}), Error);
  EXPECT_THROW(small.step(std::vector<SlotToken>{{1, 1}}), Error);
  EXPECT_THROW(CpuDecoder(weights, {.slots = 1, .slot_capacity = 257}), Error);
}

INSTANTIATE_TEST_SUITE_P(Decoder, CpuDecoderTest,
                         testing::Values(Case{Architecture::llama, CpuWeights::f32},
                                         Case{Architecture::llama, CpuWeights::bf16},
                                         Case{Architecture::qwen2, CpuWeights::f32},
                                         Case{Architecture::qwen3, CpuWeights::f16}));

}  // namespace
}  // namespace cudal1
