// The tensors of a language model as they lie in its files, under Hugging Face's names and in its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_config.hpp"

namespace cudal1 {

//! How elements are stored; those from q8_0 on are blocks of integers with a scale.
enum class WeightType { f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k };

std::string_view to_string(WeightType type);
std::size_t elements_per_block(WeightType type);  //!< 1 where there are no blocks
std::size_t bytes_per_block(WeightType type);

//! Rows are contiguous and in Hugging Face's order, also where the file has them in another (GGUF's queries and keys).
struct WeightTensor {
  WeightType type = WeightType::f32;
  std::vector<std::int64_t> shape;   //!< outermost first: (out, in) for a linear layer
  std::span<const std::byte> bytes;  //!< lives as long as the ModelWeights it came from

  std::int64_t elements() const;
};

//! As fp32, exactly as the format defines it; `values` has as many elements as the tensor.
void dequantise(const WeightTensor& tensor, std::span<float> values);

class ModelWeights {
 public:
  virtual ~ModelWeights() = default;
  virtual const ModelConfig& config() const = 0;
  //! By Hugging Face's name ("model.layers.0.self_attn.q_proj.weight"); null where there is none.
  virtual const WeightTensor* find(const std::string& name) const = 0;
  virtual std::vector<std::string> names() const = 0;  //!< sorted
  //! Ids after which the model has said all, as its files name them; empty where they say nothing.
  virtual std::vector<std::int32_t> end_tokens() const { return {}; }
};

}  // namespace cudal1
