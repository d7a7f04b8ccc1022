#include "model/transformer/transformer.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/result.hpp"
#include "model/transformer/attention.hpp"
#include "model/transformer/rotary.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

class EachArchitecture : public testing::TestWithParam<Architecture> {
 protected:
  EachArchitecture() : weights(small_config(GetParam())) { fill_randomly(weights, 7); }
  WeightsInMemory weights;
};

double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

TEST_P(EachArchitecture, PackedSequencesAreComputedAsIfEachWereAlone) {
  const at::NoGradGuard no_gradients;
  const Transformer model(weights, {});
  const std::vector<std::vector<std::int32_t>> sequences = {random_tokens(13, 96, 1), random_tokens(1, 96, 2),
                                                            random_tokens(29, 96, 3)};
  const PackedTokens packed = pack_tokens(sequences);
  const at::Tensor together = model.forward(packed);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const at::Tensor alone = model.forward(pack_tokens(std::span(sequences).subspan(i, 1)));
    const at::Tensor part = together.slice(0, packed.starts[i], packed.starts[i + 1]);
    EXPECT_LT(largest(part - alone), 1e-5 * largest(alone)) << "sequence " << i;
  }
}

TEST_P(EachArchitecture, ATokenNeverSeesThoseAfterIt) {
  const at::NoGradGuard no_gradients;
  const Transformer model(weights, {});
  std::vector<std::vector<std::int32_t>> sequence = {random_tokens(20, 96, 4)};
  const at::Tensor before = model.forward(pack_tokens(sequence));
  sequence[0][12] = (sequence[0][12] + 1) % 96;
  const at::Tensor after = model.forward(pack_tokens(sequence));
  EXPECT_LT(largest((before - after).slice(0, 0, 12)), 1e-5 * largest(before));
  EXPECT_GT(largest((before - after).slice(0, 12, 20)), 1e-3 * largest(before));
}

TEST_P(EachArchitecture, LogProbabilitiesInChunksAreThoseOfAllLogits) {
  const at::NoGradGuard no_gradients;
  const Transformer model(weights, {});
  const std::vector<std::vector<std::int32_t>> sequence = {random_tokens(23, 96, 5)};
  const PackedTokens tokens = pack_tokens(sequence);
  const at::Tensor hidden = model.hidden_states(tokens), targets = tokens.ids.roll(-1);
  const at::Tensor expected = at::log_softmax(model.logits(hidden), 1).gather(1, targets.unsqueeze(1)).squeeze(1);
  EXPECT_LT(largest(model.log_probabilities(hidden, targets, 4) - expected), 1e-5);
}

TEST_P(EachArchitecture, SixteenBitTypesStayNearFp32) {
  const at::NoGradGuard no_gradients;
  const std::vector<std::vector<std::int32_t>> sequence = {random_tokens(40, 96, 6)};
  const PackedTokens tokens = pack_tokens(sequence);
  const at::Tensor exact = Transformer(weights, {}).forward(tokens);
  const auto relative_error = [&](at::ScalarType dtype) {
    const Transformer narrow(weights, {.dtype = dtype});
    return (narrow.forward(tokens).to(at::kFloat) - exact).norm().item<double>() / exact.norm().item<double>();
  };
  EXPECT_LT(relative_error(at::kBFloat16), 2e-2);
  EXPECT_LT(relative_error(at::kHalf), 2.5e-3);
}

TEST_P(EachArchitecture, AttentionTakesAFusedKernel) {
  const at::Tensor query = at::randn({40, 4, 16}), key = at::randn({40, 2, 16}), value = at::randn({40, 2, 16});
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const AttentionOperands operands =
        attention_operands(query.to(dtype).requires_grad_(), key.to(dtype).requires_grad_(), value.to(dtype));
    const auto choice = at::_fused_sdp_choice(operands.query, operands.key, operands.value, {}, 0.0, true);
    EXPECT_EQ(choice, static_cast<std::int64_t>(sdp::SDPBackend::flash_attention)) << dtype;
  }
}

//! While it lives, attention that would take the math kernel throws instead.
class MathKernelForbidden {
 public:
  MathKernelForbidden() { at::globalContext().setSDPUseMath(false); }
  MathKernelForbidden(const MathKernelForbidden&) = delete;
  MathKernelForbidden& operator=(const MathKernelForbidden&) = delete;
  ~MathKernelForbidden() { at::globalContext().setSDPUseMath(true); }
};

//! On a GPU where CUDAL1_TEST_DEVICE=cuda asks for one.
bool on_gpu() {
  const char* device = std::getenv("CUDAL1_TEST_DEVICE");
  return device && std::string_view(device) == "cuda";
}

TEST_P(EachArchitecture, TheMathKernelIsNeverChosen) {
  if (on_gpu() && !at::hasCUDA()) GTEST_SKIP() << "PyTorch finds no GPU";
  const at::Device device = on_gpu() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  const std::vector<std::vector<std::int32_t>> sequences = {random_tokens(33, 96, 8), random_tokens(1, 96, 9),
                                                            random_tokens(70, 96, 10)};
  const MathKernelForbidden forbidden;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const Transformer model(weights, {.dtype = dtype, .device = device});
    for (const auto& entry : model.parameters()) entry.second.requires_grad_();
    const PackedTokens tokens = pack_tokens(sequences, device);
    ASSERT_NO_THROW((-model.log_probabilities(model.hidden_states(tokens), tokens.ids.roll(-1)).mean()).backward())
        << dtype;
    EXPECT_TRUE(model.parameter("model.layers.0.self_attn.k_proj.weight").grad().isfinite().all().item<bool>());
  }
}

TEST(MathKernel, WhereItIsForbiddenAttentionThatNeedsItThrows) {
  const at::Tensor heads = at::randn({1, 2, 8, 16});
  const MathKernelForbidden forbidden;
  EXPECT_NO_THROW(at::scaled_dot_product_attention(heads, heads, heads, {}, 0.0, true));
  EXPECT_THROW(at::scaled_dot_product_attention(heads, heads, heads, {}, /*dropout_p=*/0.5, true), c10::Error);
}

//! Moves one element up and down and compares the slope with the gradient, in the flattest direction first.
void expect_gradient_matches_slopes(const Transformer& model, const PackedTokens& tokens, const std::string& name) {
  const auto loss = [&] {
    const at::Tensor hidden = model.hidden_states(tokens);
    return -model.log_probabilities(hidden, tokens.ids.roll(-1), 4).to(at::kDouble).mean();
  };
  const at::Tensor parameter = model.parameter(name);
  const at::Tensor gradient = parameter.grad().flatten();
  const at::NoGradGuard no_gradients;
  const std::int64_t place = gradient.abs().argmax().item<std::int64_t>();
  const at::Tensor element = parameter.view({-1})[place];
  const float step = 2e-2F;
  element.add_(step);
  const double up = loss().item<double>();
  element.sub_(2 * step);
  const double down = loss().item<double>();
  element.add_(step);
  const double slope = (up - down) / (2 * step);
  EXPECT_NEAR(gradient[place].item<double>(), slope, 2e-2 * std::abs(slope) + 2e-4) << name;
}

TEST_P(EachArchitecture, GradientsAreTheSlopesOfTheLoss) {
  const Transformer model(weights, {});
  for (const auto& entry : model.parameters()) entry.second.requires_grad_();
  const std::vector<std::vector<std::int32_t>> sequences = {random_tokens(9, 96, 8), random_tokens(5, 96, 9)};
  const PackedTokens tokens = pack_tokens(sequences);
  (-model.log_probabilities(model.hidden_states(tokens), tokens.ids.roll(-1), 4).mean()).backward();
  for (const auto& entry : model.parameters()) expect_gradient_matches_slopes(model, tokens, entry.first);
}

TEST_P(EachArchitecture, AModelWithoutOneOfItsTensorsIsRefusedByName) {
  weights.remove("model.layers.1.mlp.up_proj.weight");
  try {
    const Transformer model(weights, {});
    FAIL() << "an incomplete model was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model.layers.1.mlp.up_proj.weight"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Transformer, EachArchitecture,
                         testing::Values(Architecture::llama, Architecture::qwen2, Architecture::qwen3));

TEST(Rotary, Llama3StretchesLongWavesOnly) {
  ModelConfig config = small_config(Architecture::llama);
  config.head_size = 4;  // frequencies 1 and 1/100: waves of 6.28 and 628 positions
  config.rope_scaling = RopeScaling{8.0, 1.0, 4.0, 64};
  const std::vector<float> frequencies = rotary_frequencies(config);
  ASSERT_EQ(frequencies.size(), 2U);
  EXPECT_FLOAT_EQ(frequencies[0], 1.0F);                     // 6.28 < 64 / 4
  EXPECT_FLOAT_EQ(frequencies[1], 0.01F / 8.0F);             // 628 > 64 / 1
  config.rope_scaling = RopeScaling{8.0, 1.0, 400.0, 2000};  // 2000 / 628.3 = 3.183 between 1 and 400
  EXPECT_NEAR(rotary_frequencies(config)[1], 0.01 * ((1 - 2.1831 / 399) / 8 + 2.1831 / 399), 1e-7);
}

TEST(PackedTokensTest, ASequenceWithoutTokensIsRefused) {
  const std::vector<std::vector<std::int32_t>> sequences = {{1, 2}, {}};
  EXPECT_THROW(pack_tokens(sequences), Error);
}

}  // namespace
}  // namespace cudal1
