// The sizes and choices that make a transformer, whichever kind of file it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cudal1 {

enum class Architecture { llama, qwen2, qwen3 };

std::string_view to_string(Architecture architecture);

//! Llama 3's stretching of rotary positions beyond the context that a model was first trained with.
struct RopeScaling {
  double factor = 1.0, low_frequency_factor = 1.0, high_frequency_factor = 1.0;
  std::int64_t original_context = 0;
};

struct ModelConfig {
  Architecture architecture = Architecture::llama;
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0;
  std::int64_t feed_forward = 0, vocabulary = 0, context = 0;
  double norm_epsilon = 1e-5, rope_theta = 10000.0;
  std::optional<RopeScaling> rope_scaling;
  bool tied_embeddings = false;  //!< the output matrix is the embedding
  bool attention_bias = false;   //!< of queries, keys and values (Qwen2)
  bool query_key_norm = false;   //!< RMS norms of each head's queries and keys (Qwen3)
};

}  // namespace cudal1
