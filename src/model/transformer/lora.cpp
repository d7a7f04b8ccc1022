#include "model/transformer/lora.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "model/transformer/parameter_names.hpp"

namespace cudal1 {
namespace {

std::vector<float> with_adapter(const WeightTensor& weight, const LoraModule& module, std::int64_t rank, float scale) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  std::vector<float> values(static_cast<std::size_t>(out * in));
  dequantise(weight, values);
  for (std::int64_t row = 0; row < out; ++row)
    for (std::int64_t r = 0; r < rank; ++r) {
      const float factor = scale * module.b[static_cast<std::size_t>(row * rank + r)];
      const float* a = module.a.data() + r * in;
      float* sums = values.data() + row * in;
      for (std::int64_t column = 0; column < in; ++column) sums[column] += factor * a[column];
    }
  return values;
}

class MergedWeights final : public ModelWeights {
 public:
  MergedWeights(const ModelWeights& base, const LoraAdapter& adapter) : base_(base) {
    for (const auto& [path, module] : adapter.modules) {
      const WeightTensor* found = base.find(path + ".weight");
      if (!found) throw Error(fmt::format("the model has no weight of {}", path));
      const WeightTensor& weight = *found;
      std::vector<float>& values = values_[path] =
          with_adapter(weight, module, adapter.rank, static_cast<float>(adapter.scale()));
      tensors_[path + ".weight"] = {WeightType::f32, weight.shape, std::as_bytes(std::span(values))};
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

LoraAdapter new_adapter(const ModelConfig& config, std::int64_t rank, double alpha, std::uint64_t seed) {
  constexpr std::string_view weight = ".weight";
  LoraAdapter adapter;
  adapter.rank = rank;
  adapter.alpha = alpha;
  Random random(seed);
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    if (!parameter.name.ends_with("_proj.weight")) continue;
    LoraModule module{parameter.shape[0], parameter.shape[1], {}, {}};
    module.a.resize(static_cast<std::size_t>(rank * module.in));
    const double width = 1.0 / std::sqrt(static_cast<double>(module.in));
    for (float& value : module.a) value = static_cast<float>((2.0 * random.uniform() - 1.0) * width);
    module.b.resize(static_cast<std::size_t>(rank * module.out));
    adapter.modules[parameter.name.substr(0, parameter.name.size() - weight.size())] = std::move(module);
  }
  return adapter;
}

std::unique_ptr<ModelWeights> merged(const ModelWeights& weights, const LoraAdapter& adapter,
                                     const std::string& adapter_name) {
  check_adapter(adapter, weights.config(), adapter_name);
  return std::make_unique<MergedWeights>(weights, adapter);
}

}  // namespace cudal1
