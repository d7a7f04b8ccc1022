// The engine on a small random model with a real decoder.
#include "model/sampling/sampling_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/result.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

//! Token n is the byte ' ' + n: a text shows its tokens.
std::string_view letter(std::int32_t token) {
  static const std::string letters = [] {
    std::string all;
    for (int i = 0; i < 96; ++i) all += static_cast<char>(' ' + i);
    return all;
  }();
  return std::string_view(letters).substr(static_cast<std::size_t>(token), 1);
}

std::vector<std::int32_t> ids(const Sample& sample) {
  std::vector<std::int32_t> all;
  for (const DrawnToken& token : sample.tokens) all.push_back(token.id);
  return all;
}

class SamplingEngineTest : public testing::TestWithParam<CpuWeights> {
 protected:
  SamplingEngineTest() : weights(small_config(Architecture::llama)) { fill_randomly(weights, 41); }
  std::vector<Sample> run(std::int64_t slots, const std::vector<SamplingRequest>& requests,
                          const std::atomic<bool>* cancelled = nullptr) const {
    CpuDecoder decoder(weights, {GetParam(), slots, 128, 2});
    return SamplingEngine(decoder, letter).run(requests, cancelled);
  }
  static SamplingRequest request(std::uint64_t seed, std::int64_t samples) {
    return {.prompt = random_tokens(7 + seed % 5, 96, seed), .samples = samples, .seed = seed, .new_tokens = 30};
  }
  WeightsInMemory weights;
};

TEST_P(SamplingEngineTest, ASampleIsTheSameHoweverManySlotsThereAreAndWhoeverElseIsInThem) {
  const std::vector<Sample> crowded = run(5, {request(1, 4), request(2, 1), request(3, 9)});
  ASSERT_EQ(crowded.size(), 14U);
  std::set<std::vector<std::int32_t>> different;
  for (const Sample& sample : crowded) {
    SamplingRequest alone = request(sample.request + 1, sample.index + 1);
    const Sample expected = run(1, {alone}).back();  // computed after its siblings, in the one slot
    EXPECT_EQ(ids(sample), ids(expected));
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      EXPECT_EQ(sample.tokens[i].sampled_log_probability, expected.tokens[i].sampled_log_probability);
      EXPECT_EQ(sample.tokens[i].policy_log_probability, expected.tokens[i].policy_log_probability);
    }
    different.insert(ids(sample));
  }
  EXPECT_EQ(different.size(), 14U);
}

TEST_P(SamplingEngineTest, PolicyLogProbabilitiesAreThoseOfTheTextComputedWhole) {
  SamplingRequest asked = request(4, 1);
  asked.parameters = {.temperature = 1.7F, .top_k = 20};
  const Sample sample = run(2, {asked}).front();
  std::vector<std::int32_t> text = asked.prompt;
  for (const DrawnToken& token : sample.tokens) text.push_back(token.id);
  CpuDecoder decoder(weights, {GetParam(), 1, 128, 1});
  const std::vector<float> logits = decoder.all_logits(text);
  for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
    const float* scores = logits.data() + (asked.prompt.size() - 1 + i) * 96;
    double sum = 0.0;
    for (int id = 0; id < 96; ++id) sum += std::exp(scores[id]);
    EXPECT_NEAR(sample.tokens[i].policy_log_probability, scores[sample.tokens[i].id] - std::log(sum), 1e-5);
    EXPECT_NE(sample.tokens[i].policy_log_probability, sample.tokens[i].sampled_log_probability);
  }
}

TEST_P(SamplingEngineTest, TextsEndWhereTheyShouldAndSayWhy) {
  const Sample whole = run(1, {request(5, 1)}).front();
  EXPECT_EQ(whole.reason, SampleEnd::length);
  EXPECT_EQ(whole.tokens.size(), 30U);
  EXPECT_EQ(whole.text.size(), 30U);

  SamplingRequest with_stop = request(5, 1);
  with_stop.stop_strings = {whole.text.substr(10, 3)};  // three tokens
  const Sample stopped = run(1, {with_stop}).front();
  const std::size_t stop = whole.text.find(with_stop.stop_strings[0]);
  EXPECT_EQ(stopped.reason, SampleEnd::stop_string);
  EXPECT_EQ(stopped.text, whole.text.substr(0, stop));
  EXPECT_EQ(stopped.tokens.size(), stop + 3);
  EXPECT_NE(stopped.details.find(with_stop.stop_strings[0]), std::string::npos);

  SamplingRequest with_end = request(5, 1);
  with_end.end_tokens = {whole.tokens[12].id};
  const Sample ended = run(1, {with_end}).front();
  EXPECT_EQ(ended.reason, SampleEnd::end_token);
  EXPECT_EQ(ended.tokens.back().id, whole.tokens[12].id);
  EXPECT_EQ(ended.text.size() + 1, ended.tokens.size());
}

//! Allows one token after the other, then any of two.
class Alternating final : public TokenConstraint {
 public:
  void allow(AllowedTokens& allowed) override {
    allowed.allow(33);
    if (taken_ % 2 == 1) allowed.allow(34);
  }
  void accept(std::int32_t) override { ++taken_; }

 private:
  int taken_ = 0;
};

TEST_P(SamplingEngineTest, AConstraintIsKeptByEverySampleAndForcedTokensAreMarked) {
  SamplingRequest asked = request(6, 3);
  asked.constraint = [] { return std::make_unique<Alternating>(); };
  asked.repetition.longest_period = 0;
  for (const Sample& sample : run(2, {asked}))
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      EXPECT_EQ(sample.tokens[i].forced, i % 2 == 0);
      EXPECT_TRUE(sample.tokens[i].id == 33 || (i % 2 == 1 && sample.tokens[i].id == 34));
    }
}

TEST_P(SamplingEngineTest, ALoopEndsASampleWithTheReason) {
  SamplingRequest asked = request(7, 1);
  asked.new_tokens = 100;
  asked.constraint = [] {
    struct Same final : TokenConstraint {
      void allow(AllowedTokens& allowed) override { allowed.allow(40); }
      void accept(std::int32_t) override {}
    };
    return std::make_unique<Same>();
  };
  asked.repetition = {.longest_period = 4, .repeats = 5, .tokens = 20};
  const Sample sample = run(1, {asked}).front();
  EXPECT_EQ(sample.reason, SampleEnd::repetition);
  EXPECT_EQ(sample.tokens.size(), 20U);
}

TEST_P(SamplingEngineTest, CancellingKeepsWhatIsThere) {
  std::atomic<bool> cancelled = false;
  CpuDecoder decoder(weights, {GetParam(), 2, 128, 1});
  SamplingEngine engine(decoder, letter);
  int tokens = 0;
  const std::vector<SamplingRequest> requests = {request(8, 3)};
  const std::vector<Sample> samples = engine.run(
      requests, &cancelled, [&](std::size_t, std::int64_t, const DrawnToken&) { cancelled = ++tokens == 10; });
  EXPECT_EQ(samples[0].tokens.size(), 5U);
  EXPECT_EQ(samples[0].text.size(), 5U);
  EXPECT_EQ(samples[1].tokens.size(), 5U);
  EXPECT_TRUE(samples[2].tokens.empty());
  for (const Sample& sample : samples) EXPECT_EQ(sample.reason, SampleEnd::cancelled);
}

TEST_P(SamplingEngineTest, BetweenTwoStepsOthersAreLetIn) {
  CpuDecoder decoder(weights, {GetParam(), 4, 128, 1});
  std::size_t tokens = 0, pauses = 0, longest = 0, all = 0;
  const auto on_token = [&](std::size_t, std::int64_t, const DrawnToken&) { ++tokens; };
  const auto between_steps = [&] { EXPECT_GE(tokens, ++pauses); };
  SamplingRequest longer = request(2, 1);
  longer.new_tokens = 40;
  const std::vector<SamplingRequest> requests = {request(1, 2), longer};
  SamplingEngine engine(decoder, letter);
  for (const Sample& sample : engine.run(requests, nullptr, on_token, between_steps)) {
    longest = std::max(longest, sample.tokens.size());
    all += sample.tokens.size();
  }
  EXPECT_EQ(pauses, longest) << "however few texts are left";
  EXPECT_EQ(tokens, all);
}

TEST_P(SamplingEngineTest, ARequestThatCannotFitIsRefusedBeforeAnythingIsComputed) {
  SamplingRequest asked = request(9, 1);
  asked.new_tokens = 128 - static_cast<std::int64_t>(asked.prompt.size()) + 1;
  EXPECT_THROW(run(1, {request(1, 1), asked}), Error);
  asked.new_tokens -= 1;
  EXPECT_EQ(run(1, {asked}).front().reason, SampleEnd::length);
  asked.prompt.clear();
  EXPECT_THROW(run(1, {asked}), Error);
}

INSTANTIATE_TEST_SUITE_P(Sampling, SamplingEngineTest, testing::Values(CpuWeights::f32, CpuWeights::bf16));

}  // namespace
}  // namespace cudal1
