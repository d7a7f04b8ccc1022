// Weights made for tests: small random models of each architecture, in fp32 or in blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/model_weights.hpp"
#include "model/transformer/lora.hpp"

namespace cudal1 {

class WeightsInMemory final : public ModelWeights {
 public:
  explicit WeightsInMemory(const ModelConfig& config) : config_(config) {}
  WeightsInMemory(const WeightsInMemory&) = delete;
  WeightsInMemory& operator=(const WeightsInMemory&) = delete;

  void set(const std::string& name, WeightType type, std::vector<std::int64_t> shape, std::vector<std::byte> bytes);
  void set(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values);
  void remove(const std::string& name) { tensors_.erase(name); }

  const ModelConfig& config() const override { return config_; }
  const WeightTensor* find(const std::string& name) const override;
  std::vector<std::string> names() const override;

 private:
  ModelConfig config_;
  std::map<std::string, std::vector<std::byte>> bytes_;
  std::map<std::string, WeightTensor> tensors_;
};

//! Two layers of 64, four heads, two key/value heads, 96 tokens: every choice of the architecture taken.
ModelConfig small_config(Architecture architecture);
//! Random normal weights, so large that attention and feed-forward matter; norms near one.
void fill_randomly(WeightsInMemory& weights, std::uint64_t seed);
//! A matrix of random blocks of q4_0, q4_1 or q8_0.
std::vector<std::byte> random_blocks(WeightType type, std::int64_t elements, std::uint64_t seed);
//! An adapter of rank 4 on every linear layer, both matrices random.
LoraAdapter random_adapter(const ModelWeights& weights, std::uint64_t seed);
std::vector<std::int32_t> random_tokens(std::size_t count, std::int64_t vocabulary, std::uint64_t seed);

}  // namespace cudal1
