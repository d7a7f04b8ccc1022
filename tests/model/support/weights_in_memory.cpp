#include "weights_in_memory.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "base/random.hpp"
#include "model/transformer/parameter_names.hpp"

namespace cudal1 {
namespace {

float normal(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * random.uniform()));
}

std::vector<float> normals(std::size_t count, float mean, float deviation, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = mean + deviation * normal(random);
  return values;
}

}  // namespace

void WeightsInMemory::set(const std::string& name, WeightType type, std::vector<std::int64_t> shape,
                          std::vector<std::byte> bytes) {
  std::vector<std::byte>& kept = bytes_[name] = std::move(bytes);
  tensors_[name] = {type, std::move(shape), kept};
}

void WeightsInMemory::set(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  set(name, WeightType::f32, std::move(shape), {bytes.begin(), bytes.end()});
}

const WeightTensor* WeightsInMemory::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> WeightsInMemory::names() const {
  std::vector<std::string> all;
  for (const auto& entry : tensors_) all.push_back(entry.first);
  return all;
}

ModelConfig small_config(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = 2;
  config.hidden = 64;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_size = 16;
  config.feed_forward = 96;
  config.vocabulary = 96;
  config.context = 256;
  config.tied_embeddings = architecture != Architecture::qwen2;
  config.attention_bias = architecture == Architecture::qwen2;
  config.query_key_norm = architecture == Architecture::qwen3;
  if (architecture == Architecture::llama) config.rope_scaling = RopeScaling{8.0, 1.0, 4.0, 64};
  return config;
}

void fill_randomly(WeightsInMemory& weights, std::uint64_t seed) {
  Random random(seed);
  for (const ParameterShape& parameter : parameter_shapes(weights.config())) {
    std::size_t count = 1;
    for (const std::int64_t size : parameter.shape) count *= static_cast<std::size_t>(size);
    const bool is_norm = parameter.name.find("norm") != std::string::npos;
    weights.set(parameter.name, parameter.shape, normals(count, is_norm ? 1.0F : 0.0F, 0.15F, random));
  }
}

std::vector<std::byte> random_blocks(WeightType type, std::int64_t elements, std::uint64_t seed) {
  Random random(seed);
  const std::size_t block_bytes = type == WeightType::q8_0 ? 34 : type == WeightType::q4_0 ? 18 : 20;
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements / 32) * block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  for (std::size_t block = 0; block < bytes.size(); block += block_bytes) {
    // fp16 scales near 0.01 (q8_0: 0.001), minima near -0.1, each another
    const auto scale = static_cast<std::uint16_t>((type == WeightType::q8_0 ? 0x1400 : 0x2100) + random.below(200));
    const auto minimum = static_cast<std::uint16_t>(0xae00 + random.below(200));
    std::memcpy(bytes.data() + block, &scale, 2);
    if (type == WeightType::q4_1) std::memcpy(bytes.data() + block + 2, &minimum, 2);
  }
  return bytes;
}

LoraAdapter random_adapter(const ModelWeights& weights, std::uint64_t seed) {
  Random random(seed);
  LoraAdapter adapter;
  adapter.rank = 4;
  adapter.alpha = 2.0;
  for (const ParameterShape& parameter : parameter_shapes(weights.config())) {
    if (parameter.name.find("_proj.weight") == std::string::npos) continue;
    const auto out = static_cast<std::size_t>(parameter.shape[0]), in = static_cast<std::size_t>(parameter.shape[1]);
    const std::string layer = parameter.name.substr(0, parameter.name.size() - std::string_view(".weight").size());
    adapter.modules[layer] = {parameter.shape[0], parameter.shape[1], normals(4 * in, 0.0F, 0.1F, random),
                              normals(4 * out, 0.0F, 0.1F, random)};
  }
  return adapter;
}

std::vector<std::int32_t> random_tokens(std::size_t count, std::int64_t vocabulary, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary)));
  return tokens;
}

}  // namespace cudal1
