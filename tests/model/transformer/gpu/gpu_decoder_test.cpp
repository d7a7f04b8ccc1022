// Decoding on a GPU beside the transformer and the decoder of the CPU, on small random models. Without a GPU the same
// cases run with kernels on the virtual one and matrix products on the CPU; CUDAL1_TEST_DEVICE=cuda asks for a GPU.
#include "model/transformer/gpu/gpu_decoder.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "accelerator/cuda_decoder.hpp"
#include "base/result.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "model/transformer/transformer.hpp"
#include "virtual_runtime.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

bool on_gpu() {
  const char* device = std::getenv("CUDAL1_TEST_DEVICE");
  return device && std::string_view(device) == "cuda";
}

std::unique_ptr<GpuDecoder> made(const ModelWeights& weights, const GpuDecoderOptions& options) {
  if (on_gpu()) return make_cuda_decoder(weights, options);
  return std::make_unique<GpuDecoder>(weights, options, std::make_shared<testing::VirtualRuntime>());
}

struct Case {
  const char* name;
  Architecture architecture;
  GpuDtype dtype;
};

at::ScalarType torch_type(GpuDtype dtype) {
  return dtype == GpuDtype::f32 ? at::kFloat : dtype == GpuDtype::bf16 ? at::kBFloat16 : at::kHalf;
}

//! Of the largest score, decoding against computing the whole text.
double tolerance(GpuDtype dtype) { return dtype == GpuDtype::f32 ? 1e-4 : dtype == GpuDtype::bf16 ? 6e-2 : 8e-3; }

class GpuDecoderTest : public ::testing::TestWithParam<Case> {
 protected:
  GpuDecoderTest() : weights(small_config(GetParam().architecture)) { fill_randomly(weights, 31); }
  void SetUp() override {
    const std::string why = on_gpu() ? why_no_cuda_decoder() : testing::why_no_vgpu();
    if (!why.empty()) GTEST_SKIP() << why;
  }
  std::unique_ptr<GpuDecoder> decoder(std::int64_t slots, bool recorded = true) const {
    return made(weights, {GetParam().dtype, slots, 64, recorded});
  }
  WeightsInMemory weights;
};

//! The scores after the prompt and after each of the tokens that follow it, in one slot.
std::vector<std::vector<float>> scores_of(GpuDecoder& decoder, std::int64_t slot,
                                          const std::vector<std::int32_t>& prompt,
                                          const std::vector<std::int32_t>& continuation) {
  decoder.start(slot, *decoder.prefill(prompt));
  std::vector<std::vector<float>> scores = {decoder.logits(slot)};
  for (const std::int32_t token : continuation) {
    decoder.step(std::vector<SlotToken>{{slot, token}});
    scores.push_back(decoder.logits(slot));
  }
  return scores;
}

//! (T, V), on the device that is tested
at::Tensor whole_text_logits(const ModelWeights& weights, GpuDtype dtype, const std::vector<std::int32_t>& tokens) {
  const at::NoGradGuard no_gradients;
  const at::Device device = on_gpu() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  const Transformer model(weights, {.dtype = torch_type(dtype), .device = device});
  const std::vector<std::vector<std::int32_t>> sequence = {tokens};
  return model.forward(pack_tokens(sequence, device)).to(at::kCPU, at::kFloat);
}

TEST_P(GpuDecoderTest, StepsGiveWhatTheTransformerGives) {
  const std::vector<std::int32_t> tokens = random_tokens(64, 96, 1);  // up to the last place of the slot
  const std::vector<std::int32_t> prompt(tokens.begin(), tokens.begin() + 17), rest(tokens.begin() + 17, tokens.end());
  const auto alone = decoder(2);
  const std::vector<std::vector<float>> scores = scores_of(*alone, 1, prompt, rest);
  const at::Tensor expected = whole_text_logits(weights, GetParam().dtype, tokens);
  const double largest = expected.abs().max().item<double>();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const at::Tensor found = at::tensor(scores[i]);
    const double difference = (found - expected[16 + static_cast<std::int64_t>(i)]).abs().max().item<double>();
    EXPECT_LT(difference, tolerance(GetParam().dtype) * largest) << "after token " << 16 + i;
  }
}

TEST_P(GpuDecoderTest, AOneTokenPromptCanBeContinued) {
  const auto alone = decoder(1);
  const std::vector<std::vector<float>> scores = scores_of(*alone, 0, {5}, {9});
  const at::Tensor expected = whole_text_logits(weights, GetParam().dtype, {5, 9});
  const double largest = expected.abs().max().item<double>();
  EXPECT_LT((at::tensor(scores[1]) - expected[1]).abs().max().item<double>(), tolerance(GetParam().dtype) * largest);
}

TEST_P(GpuDecoderTest, ASlotIsBitEqualWhateverTheOthersHold) {
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 2), rest = random_tokens(8, 96, 3);
  const auto quiet = decoder(5), crowded = decoder(5);
  const std::vector<std::vector<float>> expected = scores_of(*quiet, 3, prompt, rest);
  const std::vector<std::vector<float>> elsewhere = scores_of(*quiet, 0, prompt, rest);
  for (std::int64_t slot = 0; slot < 5; ++slot)
    crowded->start(slot,
                   *crowded->prefill(slot == 3 ? prompt : random_tokens(3 + static_cast<std::size_t>(slot), 96, 4)));
  EXPECT_EQ(crowded->logits(3), expected[0]);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    std::vector<SlotToken> tokens = {{3, rest[i]}};
    for (std::int64_t slot = 0; slot < 5; ++slot)  // another number of neighbours each time
      if (slot != 3 && slot < static_cast<std::int64_t>(i)) tokens.push_back({slot, static_cast<std::int32_t>(i)});
    crowded->step(tokens);
    EXPECT_EQ(crowded->logits(3), expected[i + 1]) << "beside " << tokens.size() - 1;
    EXPECT_EQ(elsewhere[i + 1], expected[i + 1]) << "in another slot";
  }
}

TEST_P(GpuDecoderTest, ASlotThatIsNotNamedKeepsWhatItHas) {
  const auto both = decoder(2);
  both->start(0, *both->prefill(random_tokens(9, 96, 5)));
  both->start(1, *both->prefill(random_tokens(4, 96, 6)));
  const std::vector<float> before = both->logits(0);
  both->step(std::vector<SlotToken>{{1, 7}});
  EXPECT_EQ(both->logits(0), before);
  EXPECT_EQ(both->logits(0), before);
}

TEST_P(GpuDecoderTest, RecordedStepsAreThoseThatAreLaunchedAnew) {
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 2), rest = random_tokens(8, 96, 3);
  const auto recorded = decoder(3), anew = decoder(3, false);
  EXPECT_EQ(scores_of(*recorded, 1, prompt, rest), scores_of(*anew, 1, prompt, rest));
}

TEST_P(GpuDecoderTest, SlotsThatShareAPromptContinueItEachAlone) {
  const auto shared = decoder(3);
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 5);
  const auto computed = shared->prefill(prompt);
  for (std::int64_t slot = 0; slot < 3; ++slot) shared->start(slot, *computed);
  shared->step(std::vector<SlotToken>{{0, 1}, {1, 2}, {2, 1}});
  shared->step(std::vector<SlotToken>{{0, 3}, {1, 3}, {2, 3}});  // before anybody has waited for the first
  const std::vector<float> first = shared->logits(0), second = shared->logits(1), third = shared->logits(2);
  EXPECT_EQ(first, third);
  EXPECT_NE(first, second);
  EXPECT_EQ(scores_of(*shared, 1, prompt, {2, 3}).back(), second) << "a slot that is used again forgets what it held";
}

TEST_P(GpuDecoderTest, OtherParametersAreUsedFromTheNextTokenOn) {
  WeightsInMemory others(small_config(GetParam().architecture));
  fill_randomly(others, 77);
  const auto changed = decoder(1), expected = made(others, {GetParam().dtype, 1, 64});
  const Transformer model(others, {});
  changed->set_parameters(model.parameters());
  const std::vector<std::int32_t> prompt = random_tokens(9, 96, 2), rest = random_tokens(3, 96, 3);
  EXPECT_EQ(scores_of(*changed, 0, prompt, rest), scores_of(*expected, 0, prompt, rest));
}

TEST_P(GpuDecoderTest, WhatDoesNotFitIsRefusedInOneLine) {
  const auto small = decoder(2);
  EXPECT_THROW(small->prefill({}), Error);
  EXPECT_THROW(small->prefill(random_tokens(65, 96, 1)), Error);
  EXPECT_THROW(small->prefill(std::vector<std::int32_t>{96}), Error);
  EXPECT_THROW(small->step(std::vector<SlotToken>{{0, 1}}), Error) << "never started";
  small->start(0, *small->prefill(random_tokens(64, 96, 1)));
  EXPECT_THROW(small->step(std::vector<SlotToken>{{0, 1}}), Error) << "full";
  EXPECT_THROW(small->step(std::vector<SlotToken>{{2, 1}}), Error) << "no such slot";
  small->start(0, *small->prefill(random_tokens(4, 96, 1)));
  EXPECT_THROW(small->step(std::vector<SlotToken>{{0, 1}, {0, 2}}), Error) << "twice";
  EXPECT_THROW(small->start(0, *decoder(1)->prefill(random_tokens(4, 96, 1))), Error) << "another decoder's";
  EXPECT_NO_THROW(small->step(std::vector<SlotToken>{{0, 1}})) << "what was refused has changed nothing";
}

//! Token n is the byte ' ' + n.
std::string_view letter(std::int32_t token) {
  static const std::string letters = [] {
    std::string all;
    for (int i = 0; i < 96; ++i) all += static_cast<char>(' ' + i);
    return all;
  }();
  return std::string_view(letters).substr(static_cast<std::size_t>(token), 1);
}

std::vector<SamplingRequest> requests() {
  SamplingRequest plain{.prompt = random_tokens(7, 96, 1), .samples = 3, .seed = 5, .new_tokens = 20};
  SamplingRequest filtered{.prompt = random_tokens(5, 96, 2), .samples = 2, .seed = 6, .new_tokens = 12};
  filtered.parameters = {0.8F, 20, 0.9F, 0.01F};
  SamplingRequest greedy{.prompt = random_tokens(3, 96, 3), .samples = 1, .new_tokens = 40};
  greedy.parameters.temperature = 0.0F;
  return {plain, filtered, greedy};
}

void expect_same_ids(const Sample& found, const Sample& expected) {
  ASSERT_EQ(found.tokens.size(), expected.tokens.size());
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    EXPECT_EQ(found.tokens[i].id, expected.tokens[i].id) << "token " << i;
    EXPECT_NEAR(found.tokens[i].sampled_log_probability, expected.tokens[i].sampled_log_probability, 1e-3);
    EXPECT_NEAR(found.tokens[i].policy_log_probability, expected.tokens[i].policy_log_probability, 1e-3);
  }
}

TEST_P(GpuDecoderTest, InFp32ItSamplesWhatTheCpuSamples) {
  if (GetParam().dtype != GpuDtype::f32) GTEST_SKIP() << "narrow types draw other tokens now and then";
  CpuDecoder cpu(weights, {CpuWeights::f32, 4, 64, 2});
  const auto gpu = decoder(4);
  const std::vector<Sample> expected = SamplingEngine(cpu, letter).run(requests());
  const std::vector<Sample> found = SamplingEngine(*gpu, letter).run(requests());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_same_ids(found[i], expected[i]);
}

//! Even tokens and odd ones take turns; every fifth is the only one that may come.
class TakingTurns final : public TokenConstraint {
 public:
  void allow(AllowedTokens& allowed) override {
    for (std::size_t id = count_ % 2; id < 96; id += 2)
      if (count_ % 5 != 4 || id == 40 + count_ % 2) allowed.allow(id);
  }
  void accept(std::int32_t) override { ++count_; }

 private:
  std::size_t count_ = 0;
};

TEST_P(GpuDecoderTest, UnderMasksItSamplesWhatTheCpuSamples) {
  if (GetParam().dtype != GpuDtype::f32) GTEST_SKIP() << "narrow types draw other tokens now and then";
  std::vector<SamplingRequest> held = requests();
  for (const std::size_t number : {0U, 2U}) held[number].constraint = [] { return std::make_unique<TakingTurns>(); };
  CpuDecoder cpu(weights, {CpuWeights::f32, 4, 64, 2});
  const std::vector<Sample> expected = SamplingEngine(cpu, letter).run(held);
  for (const bool recorded : {true, false}) {
    const auto gpu = decoder(4, recorded);
    const std::vector<Sample> found = SamplingEngine(*gpu, letter).run(held);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      expect_same_ids(found[i], expected[i]);
      for (std::size_t k = 0; k < found[i].tokens.size(); ++k)
        EXPECT_EQ(found[i].tokens[k].forced, held[found[i].request].constraint && k % 5 == 4) << i << " " << k;
    }
  }
}

TEST_P(GpuDecoderTest, AMaskThatAllowsNothingIsRefused) {
  const auto gpu = decoder(1);
  gpu->start(0, *gpu->prefill(random_tokens(4, 96, 1)));
  const AllowedTokens nothing(96), other(640);
  EXPECT_THROW(gpu->draw(std::vector<SlotDraw>{{0, {{}, 1, 1, &nothing}}}), Error);
  EXPECT_THROW(gpu->draw(std::vector<SlotDraw>{{0, {{}, 1, 1, &other}}}), Error);
  EXPECT_EQ(gpu->draw(std::vector<SlotDraw>{{0, {{}, 1, 1, nullptr}}}).size(), 1U);
}

TEST_P(GpuDecoderTest, ASampleIsTheSameWhoeverElseIsInTheSlots) {
  const auto gpu = decoder(4);
  const std::vector<Sample> crowded = SamplingEngine(*gpu, letter).run(requests());
  const std::vector<SamplingRequest> filtered = {requests()[1]};
  const std::vector<Sample> alone = SamplingEngine(*gpu, letter).run(filtered);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].text, crowded[3 + i].text);
}

TEST_P(GpuDecoderTest, LogProbabilitiesAreTheTransformers) {
  const auto gpu = decoder(2);
  const std::vector<SamplingRequest> request = {requests()[0]};
  double sum = 0.0;
  int count = 0;
  for (const Sample& sample : SamplingEngine(*gpu, letter).run(request)) {
    std::vector<std::int32_t> text = request[0].prompt;
    for (const DrawnToken& token : sample.tokens) text.push_back(token.id);
    const at::Tensor expected = at::log_softmax(whole_text_logits(weights, GetParam().dtype, text), -1);
    for (std::size_t i = 0; i < sample.tokens.size(); ++i, ++count) {
      const auto position = static_cast<std::int64_t>(request[0].prompt.size() + i) - 1;
      sum += std::abs(expected[position][sample.tokens[i].id].item<double>() - sample.tokens[i].policy_log_probability);
      EXPECT_NEAR(sample.tokens[i].sampled_log_probability, sample.tokens[i].policy_log_probability,
                  1e-5);  // temperature 1
    }
  }
  const double most = GetParam().dtype == GpuDtype::f32 ? 1e-4 : GetParam().dtype == GpuDtype::bf16 ? 0.1 : 0.01;
  EXPECT_LT(sum / count, most);
}

//! Letters of one half of the alphabet only.
class HalfTheLetters final : public TokenConstraint {
 public:
  void allow(AllowedTokens& allowed) override {
    for (std::size_t id = 48; id < 96; ++id) allowed.allow(id);
  }
  void accept(std::int32_t) override {}
};

TEST_P(GpuDecoderTest, MasksOfAGrammarHoldBesideTextsWithoutOne) {
  const auto gpu = decoder(3);
  std::vector<SamplingRequest> asked = requests();
  asked[0].constraint = [] { return std::make_unique<HalfTheLetters>(); };
  const std::vector<Sample> samples = SamplingEngine(*gpu, letter).run(asked);
  bool others = false;
  for (const Sample& sample : samples)
    for (const DrawnToken& token : sample.tokens) {
      EXPECT_TRUE(sample.request != 0 || token.id >= 48);
      others = others || token.id < 48;
    }
  EXPECT_TRUE(others);
}

INSTANTIATE_TEST_SUITE_P(All, GpuDecoderTest,
                         ::testing::Values(Case{"llama_f32", Architecture::llama, GpuDtype::f32},
                                           Case{"llama_f16", Architecture::llama, GpuDtype::f16},
                                           Case{"qwen2_f32", Architecture::qwen2, GpuDtype::f32},
                                           Case{"qwen3_bf16", Architecture::qwen3, GpuDtype::bf16},
                                           Case{"qwen3_f32", Architecture::qwen3, GpuDtype::f32}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CudaDecoder, WithoutAGpuOneLineSaysWhatIsMissing) {
  if (why_no_cuda_decoder().empty() || on_gpu()) GTEST_SKIP() << "for machines without a GPU";
  WeightsInMemory weights(small_config(Architecture::llama));
  fill_randomly(weights, 31);
  try {
    make_cuda_decoder(weights, {});
    FAIL() << "there is one";
  } catch (const Error& problem) {
    EXPECT_EQ(std::string_view(problem.what()).find('\n'), std::string_view::npos) << problem.what();
  }
}

TEST(GpuDecoderMemory, TooLittleIsOneLineThatSaysWhatToDo) {
  if (on_gpu()) GTEST_SKIP() << "tested without a GPU";
  WeightsInMemory weights(small_config(Architecture::llama));
  fill_randomly(weights, 31);
  const auto runtime = std::make_shared<testing::VirtualRuntime>();
  runtime->free = 1000;
  try {
    const GpuDecoder decoder(weights, {.slots = 2, .slot_capacity = 64}, runtime);
    FAIL() << "it fits";
  } catch (const Error& problem) {
    const std::string_view line = problem.what();
    EXPECT_EQ(line.find('\n'), std::string_view::npos);
    EXPECT_NE(line.find("fewer texts"), std::string_view::npos) << line;
  }
}

}  // namespace
}  // namespace cudal1
