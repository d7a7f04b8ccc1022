// Decoding on the CPU and the transformer that is trained are two programs: they must compute the same model.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "model/transformer/cpu/cpu_decoder.hpp"
#include "model/transformer/transformer.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

class EachArchitecture : public testing::TestWithParam<Architecture> {};

double largest_difference(const WeightsInMemory& weights, const std::vector<std::int32_t>& tokens,
                          CpuWeights decoder_weights, at::ScalarType dtype) {
  const at::NoGradGuard no_gradients;
  const std::vector<std::vector<std::int32_t>> sequence = {tokens};
  const at::Tensor expected = Transformer(weights, {.dtype = dtype}).forward(pack_tokens(sequence)).to(at::kFloat);
  CpuDecoder decoder(weights, {.weights = decoder_weights, .slots = 1, .slot_capacity = 200, .threads = 2});
  std::vector<float> logits = decoder.all_logits(tokens);
  const at::Tensor ours = at::from_blob(logits.data(), expected.sizes(), at::kFloat);
  return ((ours - expected).abs().max() / expected.abs().max()).item<double>();
}

TEST_P(EachArchitecture, TheDecoderGivesTheTransformersLogits) {
  WeightsInMemory weights(small_config(GetParam()));
  fill_randomly(weights, 21);
  const std::vector<std::int32_t> tokens = random_tokens(150, 96, 22);
  EXPECT_LT(largest_difference(weights, tokens, CpuWeights::f32, at::kFloat), 1e-5);
  EXPECT_LT(largest_difference(weights, tokens, CpuWeights::bf16, at::kBFloat16), 4e-2);
  EXPECT_LT(largest_difference(weights, tokens, CpuWeights::f16, at::kHalf), 5e-3);
}

TEST_P(EachArchitecture, SizesThatAreNoWholeVectorsArePadded) {
  ModelConfig config = small_config(GetParam());
  config.hidden = 40;
  config.head_size = 10;
  config.feed_forward = 50;
  config.vocabulary = 37;
  WeightsInMemory weights(config);
  fill_randomly(weights, 23);
  EXPECT_LT(largest_difference(weights, random_tokens(70, 37, 24), CpuWeights::f32, at::kFloat), 1e-5);
}

void turn_matrices_into_blocks(WeightsInMemory& weights) {
  std::uint64_t seed = 0;
  for (const std::string& name : weights.names()) {
    const WeightTensor tensor = *weights.find(name);
    if (tensor.shape.size() != 2) continue;
    const WeightType types[] = {WeightType::q4_1, WeightType::q4_0, WeightType::q8_0};
    const WeightType type = types[++seed % 3];
    weights.set(name, type, tensor.shape, random_blocks(type, tensor.elements(), seed));
  }
}

TEST_P(EachArchitecture, BlocksOfTheFileAreUsedAsTheyAre) {
  WeightsInMemory weights(small_config(GetParam()));
  fill_randomly(weights, 25);
  turn_matrices_into_blocks(weights);
  const std::vector<std::int32_t> tokens = random_tokens(90, 96, 26);
  EXPECT_LT(largest_difference(weights, tokens, CpuWeights::as_file, at::kFloat), 1e-5);
}

TEST_P(EachArchitecture, AnAdapterMergedIntoBlocksDecodesAsTheTrainedOneBesideThem) {
  const at::NoGradGuard no_gradients;
  WeightsInMemory weights(small_config(GetParam()));
  fill_randomly(weights, 27);
  turn_matrices_into_blocks(weights);
  const LoraAdapter adapter = random_adapter(weights, 28);
  Transformer model(weights, {});
  model.add_adapter("one", adapter);
  model.use_adapter("one");
  const std::vector<std::vector<std::int32_t>> sequence = {random_tokens(50, 96, 29)};
  const at::Tensor expected = model.forward(pack_tokens(sequence));
  const std::unique_ptr<ModelWeights> merged_weights = merged(weights, adapter, "one");
  CpuDecoder decoder(*merged_weights, {.slots = 1, .slot_capacity = 1, .threads = 1});
  std::vector<float> logits = decoder.all_logits(sequence[0]);
  const at::Tensor ours = at::from_blob(logits.data(), expected.sizes(), at::kFloat);
  EXPECT_LT(((ours - expected).abs().max() / expected.abs().max()).item<double>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Decoder, EachArchitecture,
                         testing::Values(Architecture::llama, Architecture::qwen2, Architecture::qwen3));

}  // namespace
}  // namespace cudal1
