#include "model/transformer/checkpointing.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "model/transformer/transformer.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

using Gradients = std::map<std::string, at::Tensor>;

Gradients gradients_of_a_step(Transformer& model, const PackedTokens& tokens, bool checkpointing, bool adapter_only) {
  model.set_checkpointing(checkpointing);
  std::map<std::string, at::Tensor> trained = model.adapter_parameters("one");
  for (const auto& [name, parameter] : model.parameters()) {
    parameter.requires_grad_(!adapter_only);
    if (!adapter_only) trained[name] = parameter;
  }
  for (const auto& entry : trained) entry.second.mutable_grad() = at::Tensor();
  (-model.log_probabilities(model.hidden_states(tokens), tokens.ids.roll(-1), 7).mean()).backward();
  Gradients gradients;
  for (const auto& [name, parameter] : trained) gradients[name] = parameter.grad().clone();
  return gradients;
}

TEST(Checkpointing, GradientsAreThoseWithoutIt) {
  for (const bool adapter_only : {false, true}) {
    WeightsInMemory weights(small_config(Architecture::qwen2));
    fill_randomly(weights, 5);
    Transformer model(weights, {});
    model.add_adapter("one", random_adapter(weights, 6));
    model.use_adapter("one");
    const std::vector<std::vector<std::int32_t>> sequences = {random_tokens(14, 96, 1), random_tokens(6, 96, 2)};
    const PackedTokens tokens = pack_tokens(sequences);
    const Gradients plain = gradients_of_a_step(model, tokens, false, adapter_only);
    const Gradients recomputed = gradients_of_a_step(model, tokens, true, adapter_only);
    ASSERT_EQ(plain.size(), recomputed.size());
    for (const auto& [name, gradient] : plain)
      EXPECT_TRUE(at::allclose(gradient, recomputed.at(name), 1e-6, 1e-8)) << name;
  }
}

TEST(Checkpointing, TheFunctionRunsAgainForGradientsOnly) {
  int calls = 0;
  const at::Tensor weight = at::full({3}, 2.0).requires_grad_();
  const TensorFunction function = [&](const at::Tensor& input) {
    ++calls;
    return (input * weight).sin();
  };
  const at::Tensor input = at::arange(3, at::kFloat).requires_grad_();
  const at::Tensor output = checkpointed(function, input, {weight});
  EXPECT_EQ(calls, 1);
  output.sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(at::allclose(input.grad(), (input * weight).cos() * weight));
  EXPECT_TRUE(at::allclose(weight.grad(), (input * weight).cos() * input));
}

}  // namespace
}  // namespace cudal1
