// A training step beside autograd on small random models: in plain ATen, and with its kernels on the virtual GPU or,
// with CUDAL1_TEST_DEVICE=cuda, on a GPU.
#include "train/training_step.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/files.hpp"
#include "base/result.hpp"
#include "train/gradient_clipping.hpp"
#include "training_device.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

struct Case {
  const char* name;
  Architecture architecture;
  bool adapter, kernels;
};

//! The last tokens of some texts count, each another amount.
std::vector<TrainingText> sample_texts() {
  std::vector<TrainingText> texts;
  for (const std::size_t length : {7U, 1U, 19U, 2U, 12U}) {
    TrainingText text{random_tokens(length, 96, length), std::vector<float>(length)};
    for (std::size_t i = length / 3; i < length; ++i)
      text.weights[i] = i % 5 == 1 ? 0.0F : 0.02F * static_cast<float>(i);
    if (length == 12) text.weights[7] = -0.1F;  // a disadvantage
    texts.push_back(text);
  }
  return texts;
}

class TrainingStepTest : public ::testing::TestWithParam<Case> {
 protected:
  TrainingStepTest() : weights(small_config(GetParam().architecture)) { fill_randomly(weights, 3); }
  void SetUp() override {
    if (testing::on_gpu() && !GetParam().kernels) GTEST_SKIP() << "without kernels: tested without a GPU";
    const std::string why = testing::why_no_training_device();
    if (GetParam().kernels && !why.empty()) GTEST_SKIP() << why;
  }

  std::unique_ptr<Transformer> model(at::ScalarType dtype = at::kFloat) const {
    auto made = std::make_unique<Transformer>(weights,
                                              TransformerOptions{.dtype = dtype, .device = testing::training_device()});
    if (GetParam().adapter) made->add_adapter("learned", random_adapter(weights, 9));
    return made;
  }
  static TrainingStepOptions options(std::int64_t logits_at_once = 5) {
    TrainingStepOptions made;
    made.logits_at_once = logits_at_once;
    if (GetParam().adapter) made.adapter = "learned";
    return made;
  }
  static std::shared_ptr<GpuRuntime> runtime() { return GetParam().kernels ? testing::training_runtime() : nullptr; }
  static std::map<std::string, at::Tensor> trained(const Transformer& model) {
    return GetParam().adapter ? model.adapter_parameters("learned") : model.parameters();
  }

  WeightsInMemory weights;
};

//! Log-probabilities of the targets, differentiable.
at::Tensor plain_log_probabilities(Transformer& model, const TrainingBatch& batch, bool adapter) {
  model.use_adapter(adapter ? "learned" : "");
  const at::Tensor hidden = model.hidden_states(batch.tokens).index_select(0, batch.rows);
  return model.log_probabilities(hidden, batch.targets);
}

//! By name, as autograd has them; `loss` of the log-probabilities.
template <class Loss>
std::map<std::string, at::Tensor> autograd_gradients(Transformer& model,
                                                     const std::map<std::string, at::Tensor>& parameters,
                                                     const TrainingBatch& batch, bool adapter, const Loss& loss) {
  for (const auto& entry : parameters) entry.second.requires_grad_();
  loss(plain_log_probabilities(model, batch, adapter)).backward();
  std::map<std::string, at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) gradients[name] = parameter.grad();
  return gradients;
}

//! How far from it, of its length: all gradients together.
double relative_error(const std::map<std::string, at::Tensor>& found,
                      const std::map<std::string, at::Tensor>& expected) {
  double squares = 0.0, all = 0.0;
  for (const auto& [name, tensor] : expected) {
    const at::Tensor exact = tensor.to(at::kCPU, at::kDouble), is = found.at(name).to(at::kCPU, at::kDouble);
    squares += (is - exact).square().sum().item<double>();
    all += exact.square().sum().item<double>();
  }
  return std::sqrt(squares / all);
}

std::map<std::string, at::Tensor> gradients_now(const std::map<std::string, at::Tensor>& parameters) {
  std::map<std::string, at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) gradients[name] = parameter.grad().clone();
  return gradients;
}

TEST_P(TrainingStepTest, GradientsAreAutograds) {
  const auto plain = model(), mine = model();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(sample_texts());
  const std::vector<float> found = step.read(step.accumulate(batch));
  const auto expected = autograd_gradients(*plain, trained(*plain), batch, GetParam().adapter,
                                           [&](const at::Tensor& log_p) { return -(batch.weights * log_p).sum(); });
  const std::map<std::string, at::Tensor> gradients = gradients_now(trained(*mine));
  for (const auto& [name, gradient] : expected) {
    const double largest = gradient.abs().max().item<double>();
    EXPECT_LE((gradients.at(name) - gradient).abs().max().item<double>(), 2e-4 * largest + 1e-6) << name;
  }
  const at::Tensor log_p = plain_log_probabilities(*plain, batch, GetParam().adapter).detach().cpu();
  EXPECT_LT((at::tensor(found) - log_p).abs().max().item<double>(), 2e-5);
  EXPECT_LT((at::tensor(step.read(step.log_probabilities(batch))) - log_p).abs().max().item<double>(), 2e-5);
}

TEST_P(TrainingStepTest, AStepIsThatOfAutogradWithAdamW) {
  const auto plain = model(), mine = model();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(sample_texts());
  step.wait();  // PyTorch's own stream reads it too
  AdamW optimiser({{trained(*plain)}}, {});
  for (int i = 0; i < 3; ++i) {
    autograd_gradients(*plain, trained(*plain), batch, GetParam().adapter,
                       [&](const at::Tensor& log_p) { return -(batch.weights * log_p).sum(); });
    const at::Tensor norm = clip_by_global_norm(optimiser.gradients(), 1.0);
    optimiser.step(1e-2, norm);
    optimiser.clear_gradients();
    step.accumulate(batch);
    EXPECT_NEAR(step.read(step.update(1e-2))[0], norm.item<float>(), 1e-3 * norm.item<float>());
  }
  step.wait();
  // AdamW divides by gradients' size: where these are nearly 0, a rounding may turn a step around.
  EXPECT_LT(relative_error(trained(*mine), trained(*plain)), 1e-3);
}

TEST_P(TrainingStepTest, SixteenBitsAreAsNearToFp32AsAutogradsAre) {
  const auto exact = model(), plain = model(at::kBFloat16), mine = model(at::kBFloat16);
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(sample_texts());
  step.accumulate(batch);
  step.wait();
  const auto loss = [&](const at::Tensor& log_p) { return -(batch.weights * log_p).sum(); };
  const auto expected = autograd_gradients(*exact, trained(*exact), batch, GetParam().adapter, loss);
  const auto others = autograd_gradients(*plain, trained(*plain), batch, GetParam().adapter, loss);
  const double error = relative_error(gradients_now(trained(*mine)), expected);
  EXPECT_LT(error, 1.3 * relative_error(others, expected)) << error;
}

TEST_P(TrainingStepTest, LossesOfOtherFormsHaveTheirSlopes) {
  const auto plain = model(), mine = model();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(sample_texts());
  const at::Tensor earlier = (at::tensor(step.read(step.log_probabilities(batch))) - 0.1)
                                 .to(testing::training_device());  // of an older policy
  // Ratios of probabilities times advantages: the slope of exp(p - q) is itself.
  step.accumulate(batch, [&](const at::Tensor& log_p, std::int64_t first) {
    return -batch.weights.narrow(0, first, log_p.size(0)) * at::exp(log_p - earlier.narrow(0, first, log_p.size(0)));
  });
  step.wait();
  const auto expected =
      autograd_gradients(*plain, trained(*plain), batch, GetParam().adapter,
                         [&](const at::Tensor& log_p) { return -(batch.weights * at::exp(log_p - earlier)).sum(); });
  EXPECT_LT(relative_error(gradients_now(trained(*mine)), expected), 1e-4);
}

//! Every second token of the third and the last text could have been one of a few others only.
std::vector<TrainingText> held_texts() {
  std::vector<TrainingText> texts = sample_texts();
  for (const std::size_t number : {2U, 4U}) {
    TrainingText& text = texts[number];
    text.allowed.resize(text.tokens.size());
    for (std::size_t i = 0; i < text.tokens.size(); i += 2) {
      auto mask = std::make_shared<TokenMask>();
      mask->bits.resize(2);
      for (const std::size_t token : {static_cast<std::size_t>(text.tokens[i]), i, i + 31, std::size_t{95}})
        mask->bits[token / 64] |= std::uint64_t{1} << (token % 64);
      text.allowed[i] = mask;
    }
  }
  return texts;
}

//! As autograd has them: log_softmax over what is allowed, each row's tokens said out.
at::Tensor held_log_probabilities(Transformer& model, const TrainingBatch& batch, const std::vector<TrainingText>& texts,
                                  bool adapter) {
  model.use_adapter(adapter ? "learned" : "");
  const at::Tensor logits = model.logits(model.hidden_states(batch.tokens).index_select(0, batch.rows));
  const at::Tensor barred = at::zeros(logits.sizes(), at::kBool);
  std::int64_t row = 0;
  for (const TrainingText& text : texts)
    for (std::size_t i = 1; i < text.tokens.size(); ++i) {
      if (text.weights[i] == 0.0F) continue;
      if (!text.allowed.empty() && text.allowed[i])
        for (std::int32_t token = 0; token < 96; ++token) barred[row][token].fill_(!text.allowed[i]->allows(token));
      ++row;
    }
  const at::Tensor scores = at::log_softmax(
      logits.masked_fill(barred.to(logits.device()), -std::numeric_limits<float>::infinity()), 1);
  return scores.gather(1, batch.targets.unsqueeze(1)).squeeze(1);
}

TEST_P(TrainingStepTest, WhatWasNotAllowedIsNoPartOfThePolicy) {
  const auto plain = model(), mine = model();
  const std::vector<TrainingText> texts = held_texts();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(texts);
  const std::vector<float> found = step.read(step.accumulate(batch));
  const std::map<std::string, at::Tensor> parameters = trained(*plain);
  for (const auto& entry : parameters) entry.second.requires_grad_();
  const at::Tensor log_p = held_log_probabilities(*plain, batch, texts, GetParam().adapter);
  (-(batch.weights * log_p).sum()).backward();
  std::map<std::string, at::Tensor> expected;
  for (const auto& [name, parameter] : parameters) expected[name] = parameter.grad();
  EXPECT_LT((at::tensor(found) - log_p.detach().cpu()).abs().max().item<double>(), 2e-5);
  EXPECT_LT(relative_error(gradients_now(trained(*mine)), expected), 1e-4);
  const at::Tensor free = plain_log_probabilities(*plain, batch, GetParam().adapter).detach().cpu();
  EXPECT_GT((at::tensor(found) - free).max().item<double>(), 1.0) << "the masks have made a difference";
}

TEST_P(TrainingStepTest, TextsWithoutMasksHaveTheSameBitsBesideOthers) {
  const auto mine = model();
  TrainingStep step(*mine, options(1000), runtime());
  const std::vector<TrainingText> texts = held_texts();
  const TrainingBatch held = step.pack(texts), free = step.pack(sample_texts());
  const std::vector<float> some = step.read(step.log_probabilities(held)), none = step.read(step.log_probabilities(free));
  const at::Tensor numbers = held.allowed.rows.cpu();
  for (std::size_t i = 0; i < some.size(); ++i) {
    const bool has_mask = numbers[static_cast<std::int64_t>(i)].item<std::int32_t>() >= 0;
    EXPECT_EQ(some[i] == none[i], !has_mask) << i;
  }
}

TEST_P(TrainingStepTest, AnotherPolicysHiddenStatesAreScoredAlike) {
  const auto mine = model();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(held_texts());
  step.wait();
  mine->use_adapter(GetParam().adapter ? "learned" : "");
  const at::Tensor hidden = mine->hidden_states(batch.tokens).index_select(0, batch.rows).detach();
  const std::vector<float> found = step.read(step.log_probabilities_of(hidden, batch));
  const std::vector<float> own = step.read(step.log_probabilities(batch));
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(found[i], own[i], 2e-5);
}

TEST_P(TrainingStepTest, PartsOfABatchAddUp) {
  const auto whole = model(), parts = model();
  const std::vector<TrainingText> texts = sample_texts();
  TrainingStep at_once(*whole, options(1000), runtime()), in_parts(*parts, options(), runtime());
  at_once.accumulate(at_once.pack(texts));
  in_parts.accumulate(in_parts.pack(std::span(texts).first(2)));
  in_parts.accumulate(in_parts.pack(std::span(texts).subspan(2)));
  at_once.wait();
  in_parts.wait();
  EXPECT_LT(relative_error(gradients_now(trained(*parts)), gradients_now(trained(*whole))), 1e-5);
}

double loss_of(TrainingStep& step, const TrainingBatch& batch) {
  const std::vector<float> log_p = step.read(step.log_probabilities(batch)), weights = step.read(batch.weights);
  return -std::inner_product(log_p.begin(), log_p.end(), weights.begin(), 0.0);
}

std::vector<TrainingText> text_to_learn() { return {{random_tokens(24, 96, 5), std::vector<float>(24, 1.0F / 23)}}; }

TEST_P(TrainingStepTest, TheLossFalls) {
  const auto mine = model(at::kBFloat16);
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(text_to_learn());
  const double before = loss_of(step, batch);
  for (int i = 0; i < 12; ++i) {
    step.accumulate(batch);
    step.update(1e-2);
  }
  EXPECT_LT(loss_of(step, batch), 0.5 * before);
}

TEST_P(TrainingStepTest, GradientsThatAreNotFiniteChangeNothing) {
  const auto mine = model();
  TrainingStep step(*mine, options(), runtime());
  const TrainingBatch batch = step.pack(sample_texts());
  const double before = loss_of(step, batch);
  step.accumulate(batch, [](const at::Tensor& log_p, std::int64_t) {
    return at::full_like(log_p, std::numeric_limits<double>::infinity());
  });
  EXPECT_FALSE(std::isfinite(step.read(step.update(0.1))[0]));
  EXPECT_EQ(loss_of(step, batch), before);
  step.accumulate(batch);
  EXPECT_TRUE(std::isfinite(step.read(step.update(0.1))[0])) << "they are forgotten";
}

std::vector<Case> cases() {
  return {{"llama", Architecture::llama, false, false},
          {"qwen2_bias", Architecture::qwen2, false, false},
          {"qwen3_norms", Architecture::qwen3, false, false},
          {"qwen2_adapter", Architecture::qwen2, true, false},
          {"llama_kernels", Architecture::llama, false, true},
          {"qwen2_kernels", Architecture::qwen2, false, true},
          {"qwen3_kernels", Architecture::qwen3, false, true},
          {"llama_adapter_kernels", Architecture::llama, true, true},
          {"qwen3_adapter_kernels", Architecture::qwen3, true, true}};
}

INSTANTIATE_TEST_SUITE_P(All, TrainingStepTest, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

//! Without the kernels, which other tests compare with what is used here.
class TrainingStepAnywhere : public ::testing::Test {
 protected:
  TrainingStepAnywhere() : weights(small_config(Architecture::llama)) { fill_randomly(weights, 3); }
  void SetUp() override {
    if (!testing::on_gpu()) return;
    if (const std::string why = testing::why_no_training_device(); !why.empty()) GTEST_SKIP() << why;
    runtime = testing::training_runtime();
  }
  TransformerOptions narrow() const { return {.dtype = at::kBFloat16, .device = testing::training_device()}; }
  WeightsInMemory weights;
  std::shared_ptr<GpuRuntime> runtime;
};

TEST_F(TrainingStepAnywhere, AttentionNeverTakesTheMathBackend) {
  at::globalContext().setSDPUseMath(false);
  Transformer model(weights, narrow());
  TrainingStep step(model, {}, runtime);
  const std::vector<float> found = step.read(step.accumulate(step.pack(sample_texts())));
  at::globalContext().setSDPUseMath(true);
  for (const float log_p : found) EXPECT_TRUE(std::isfinite(log_p));
}

TEST_F(TrainingStepAnywhere, ResumedEqualsUninterrupted) {
  if (testing::on_gpu()) GTEST_SKIP() << "sums of a GPU are in another order each time";
  const TemporaryFolder folder;
  const auto file = folder.path() / "state.safetensors";
  const std::vector<TrainingText> texts = sample_texts();
  const auto go = [&](TrainingStep& step, int steps) {
    for (int i = 0; i < steps; ++i) {
      step.accumulate(step.pack(texts));
      step.update(1e-3);
    }
  };
  Transformer whole(weights, narrow()), first(weights, narrow()), second(weights, narrow());
  TrainingStep uninterrupted(whole, {}), before(first, {});
  go(uninterrupted, 4);
  go(before, 2);
  before.save(file);
  for (const auto& [name, parameter] : first.parameters()) second.parameter(name).copy_(parameter);
  TrainingStep after(second, {});
  after.load(file);
  go(after, 2);
  for (const auto& [name, parameter] : whole.parameters()) EXPECT_TRUE(second.parameter(name).equal(parameter)) << name;
}

TEST_F(TrainingStepAnywhere, AnAdapterOfSomeLayersIsTrainedAlone) {
  LoraAdapter adapter = random_adapter(weights, 9);
  std::erase_if(adapter.modules, [](const auto& entry) {
    return entry.first.find("q_proj") == std::string::npos && entry.first.find("up_proj") == std::string::npos;
  });
  Transformer model(weights, {.device = testing::training_device()});
  model.add_adapter("some", adapter);
  const LoraAdapter before = model.adapter("some");
  const at::Tensor weight = model.parameter("model.layers.0.mlp.down_proj.weight").clone();
  TrainingStepOptions options;
  options.adapter = "some";
  TrainingStep step(model, options, runtime);
  step.accumulate(step.pack(sample_texts()));
  step.update(1e-2);
  step.wait();
  const LoraAdapter after = model.adapter("some");
  ASSERT_EQ(after.modules.size(), 4U);
  for (const auto& [name, module] : after.modules) {
    EXPECT_NE(module.a, before.modules.at(name).a) << name;
    EXPECT_NE(module.b, before.modules.at(name).b) << name;
  }
  EXPECT_TRUE(model.parameter("model.layers.0.mlp.down_proj.weight").equal(weight));
}

TEST(TrainingBatches, WhatCannotBeLearnedIsRefusedInOneLine) {
  const auto refusal = [](const std::vector<TrainingText>& texts) -> std::string {
    try {
      pack_training_texts(texts);
    } catch (const Error& problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_NE(refusal({{{1, 2}, {1.0F}}}).find("2 tokens has 1 weights"), std::string::npos);
  EXPECT_NE(refusal({{{1, 2}, {1.0F, 0.0F}}}).find("nothing to learn"), std::string::npos) << "the first never counts";
  EXPECT_NE(refusal({}).find("no sequence"), std::string::npos);
  const auto mask_of = [](std::size_t words) {
    TokenMask mask;
    mask.bits.assign(words, 6);
    return std::make_shared<const TokenMask>(mask);
  };
  EXPECT_NE(refusal({{{1, 2}, {0.0F, 1.0F}, {mask_of(1)}}}).find("2 tokens has 1 masks"), std::string::npos);
  EXPECT_NE(refusal({{{1, 2, 2}, {0.0F, 1.0F, 1.0F}, {nullptr, mask_of(1), mask_of(2)}}}).find("different vocab"),
            std::string::npos);
}

TEST(TrainingBatches, ATokenIsLearnedFromThePositionBeforeIt) {
  const std::vector<TrainingText> texts = {{{5, 6, 7}, {9.0F, 0.0F, 0.5F}}, {{8, 4}, {0.0F, 0.25F}}};
  const TrainingBatch batch = pack_training_texts(texts);
  EXPECT_TRUE(batch.rows.equal(at::tensor({1, 3}, at::kLong)));
  EXPECT_TRUE(batch.targets.equal(at::tensor({7, 4}, at::kLong)));
  EXPECT_TRUE(batch.weights.equal(at::tensor({0.5F, 0.25F})));
  EXPECT_FALSE(batch.allowed.defined());
}

TEST(TrainingBatches, EqualMasksAreKeptOnce) {
  const auto mask_of = [](std::uint64_t bits) {
    TokenMask mask;
    mask.bits = {bits, 1};
    return std::make_shared<const TokenMask>(mask);
  };
  const auto one = mask_of(std::uint64_t{7} << 31U), same = mask_of(std::uint64_t{7} << 31U), other = mask_of(4);
  const std::vector<TrainingText> texts = {{{5, 6, 7, 8}, {0.0F, 1.0F, 1.0F, 1.0F}, {nullptr, one, nullptr, other}},
                                           {{8, 4, 4}, {0.0F, 1.0F, 1.0F}, {one, same, one}},
                                           {{2, 3}, {0.0F, 1.0F}}};
  const TrainingBatch batch = pack_training_texts(texts);
  EXPECT_TRUE(batch.allowed.rows.equal(at::tensor({0, -1, 1, 0, 0, -1}, at::kInt)));
  const std::int32_t highest = std::numeric_limits<std::int32_t>::min();  // bit 31
  EXPECT_TRUE(batch.allowed.masks.equal(at::tensor({highest, 3, 1, 0, 4, 0, 1, 0}, at::kInt).view({2, 4})));
  EXPECT_TRUE(batch.allowed.part(2, 3).rows.equal(at::tensor({1, 0, 0}, at::kInt)));
}

}  // namespace
}  // namespace cudal1
