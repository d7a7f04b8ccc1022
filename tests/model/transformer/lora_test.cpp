#include "model/transformer/lora.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "base/result.hpp"
#include "model/transformer/transformer.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

struct LoraTest : testing::Test {
  LoraTest() : weights(small_config(Architecture::qwen3)) {
    fill_randomly(weights, 3);
    const std::vector<std::vector<std::int32_t>> sequence = {random_tokens(17, 96, 1)};
    tokens = pack_tokens(sequence);
  }
  WeightsInMemory weights;
  PackedTokens tokens;
};

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

TEST_F(LoraTest, MergedWeightsGiveWhatTheAdapterGivesBesideThem) {
  const at::NoGradGuard no_gradients;
  const LoraAdapter adapter = random_adapter(weights, 11);
  Transformer model(weights, {});
  const at::Tensor plain = model.forward(tokens);
  model.add_adapter("one", adapter);
  model.use_adapter("one");
  const at::Tensor beside = model.forward(tokens);
  const std::unique_ptr<ModelWeights> merged_weights = merged(weights, adapter, "one");
  EXPECT_LT(distance(Transformer(*merged_weights, {}).forward(tokens), beside), 1e-5);
  EXPECT_GT(distance(plain, beside), 1e-2);
}

TEST_F(LoraTest, SeveralAdaptersAreChosenByName) {
  const at::NoGradGuard no_gradients;
  Transformer model(weights, {});
  const at::Tensor plain = model.forward(tokens);
  model.add_adapter("one", random_adapter(weights, 11));
  model.add_adapter("two", random_adapter(weights, 12));
  model.use_adapter("one");
  const at::Tensor one = model.forward(tokens);
  model.use_adapter("two");
  EXPECT_GT(distance(model.forward(tokens), one), 1e-2);
  model.use_adapter("one");
  EXPECT_TRUE(at::equal(model.forward(tokens), one));
  model.use_adapter("");
  EXPECT_TRUE(at::equal(model.forward(tokens), plain));
  EXPECT_THROW(model.use_adapter("three"), Error);
  EXPECT_THROW(model.add_adapter("two", random_adapter(weights, 13)), Error);
}

TEST_F(LoraTest, TrainingTheAdapterLowersTheLossAndLeavesTheModelAlone) {
  Transformer model(weights, {});
  model.add_adapter("one", random_adapter(weights, 11));
  model.use_adapter("one");
  const auto loss = [&] { return -model.log_probabilities(model.hidden_states(tokens), tokens.ids.roll(-1)).mean(); };
  const double before = loss().item<double>();
  for (int step = 0; step < 5; ++step) {
    loss().backward();
    const at::NoGradGuard no_gradients;
    for (const auto& [name, parameter] : model.adapter_parameters("one")) {
      ASSERT_TRUE(parameter.grad().defined()) << name;
      parameter.sub_(parameter.grad() * 0.05);
      parameter.mutable_grad() = at::Tensor();
    }
  }
  EXPECT_LT(loss().item<double>(), before - 0.05);
  for (const auto& entry : model.parameters()) EXPECT_FALSE(entry.second.grad().defined()) << entry.first;
}

TEST_F(LoraTest, TheAdapterReadBackMergesToTheSameModel) {
  const at::NoGradGuard no_gradients;
  Transformer model(weights, {});
  const LoraAdapter adapter = random_adapter(weights, 11);
  model.add_adapter("one", adapter);
  const LoraAdapter back = model.adapter("one");
  ASSERT_EQ(back.modules.size(), adapter.modules.size());
  for (const auto& [layer, matrices] : adapter.modules) {
    EXPECT_EQ(back.modules.at(layer).a, matrices.a);
    EXPECT_EQ(back.modules.at(layer).b, matrices.b);
  }
  EXPECT_EQ(back.scale(), adapter.scale());
}

TEST_F(LoraTest, AnAdapterForAnotherModelIsRefusedWithTheLayer) {
  LoraAdapter adapter = random_adapter(weights, 11);
  adapter.modules["model.layers.9.mlp.up_proj"] = adapter.modules["model.layers.0.mlp.up_proj"];
  EXPECT_THROW(check_adapter(adapter, weights.config(), "one"), Error);
  adapter.modules.erase("model.layers.9.mlp.up_proj");
  EXPECT_NO_THROW(check_adapter(adapter, weights.config(), "one"));
  adapter.modules["model.layers.0.mlp.up_proj"].a.pop_back();
  EXPECT_THROW(merged(weights, adapter, "one"), Error);
  EXPECT_THROW(Transformer(weights, {}).add_adapter("one", adapter), Error);
}

}  // namespace
}  // namespace cudal1
