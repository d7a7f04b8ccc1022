#include "model/transformer/lora.hpp"

#include <fmt/format.h>

#include <span>

#include "base/result.hpp"

namespace cudal1 {
namespace {

//! The layer's weight, checked against the adapter's matrices.
const WeightTensor& adapted_weight(const std::string& layer, const LoraMatrices& matrices,
                                   const ModelWeights& weights) {
  const WeightTensor* weight = weights.find(layer + ".weight");
  if (!weight || weight->shape.size() != 2)
    throw Error(fmt::format("the adapter changes {}, which this model lacks; use the model it was made for", layer));
  const std::int64_t out = weight->shape[0], in = weight->shape[1];
  if (matrices.rank <= 0 || static_cast<std::int64_t>(matrices.a.size()) != matrices.rank * in ||
      static_cast<std::int64_t>(matrices.b.size()) != out * matrices.rank)
    throw Error(fmt::format(
        "the adapter's matrices for {} do not fit a layer of {} by {}; use the model it was made for", layer, out, in));
  return *weight;
}

std::vector<float> with_adapter(const WeightTensor& weight, const LoraMatrices& matrices) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  std::vector<float> values(static_cast<std::size_t>(out * in));
  dequantise(weight, values);
  for (std::int64_t row = 0; row < out; ++row)
    for (std::int64_t r = 0; r < matrices.rank; ++r) {
      const float factor = matrices.scale * matrices.b[static_cast<std::size_t>(row * matrices.rank + r)];
      const float* a = matrices.a.data() + r * in;
      float* sums = values.data() + row * in;
      for (std::int64_t column = 0; column < in; ++column) sums[column] += factor * a[column];
    }
  return values;
}

class MergedWeights final : public ModelWeights {
 public:
  MergedWeights(const ModelWeights& base, const LoraLayers& adapter) : base_(base) {
    for (const auto& [layer, matrices] : adapter.layers) {
      const WeightTensor& weight = adapted_weight(layer, matrices, base);
      std::vector<float>& values = values_[layer] = with_adapter(weight, matrices);
      tensors_[layer + ".weight"] = {WeightType::f32, weight.shape, std::as_bytes(std::span(values))};
    }
  }
  const ModelConfig& config() const override { return base_.config(); }
  const WeightTensor* find(const std::string& name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? base_.find(name) : &found->second;
  }
  std::vector<std::string> names() const override { return base_.names(); }

 private:
  const ModelWeights& base_;
  std::map<std::string, std::vector<float>> values_;
  std::map<std::string, WeightTensor> tensors_;
};

}  // namespace

void check_lora_layers(const LoraLayers& adapter, const ModelWeights& weights) {
  for (const auto& [layer, matrices] : adapter.layers) adapted_weight(layer, matrices, weights);
}

std::unique_ptr<ModelWeights> merged(const ModelWeights& weights, const LoraLayers& adapter) {
  return std::make_unique<MergedWeights>(weights, adapter);
}

}  // namespace cudal1
