// The CUDA kernels of one decoding step, written for one model: sizes are constants of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_config.hpp"
#include "model/sampling/token_sampler.hpp"

namespace cudal1 {

//! What weights, keys and values are kept in, and what flows between layers.
enum class GpuDtype { f32, bf16, f16 };

std::size_t bytes_of(GpuDtype dtype);
//! The beginning of a kernel's text, by which `Element` is this type.
std::string_view element_header(GpuDtype dtype);

//! How attention is shared out among lanes and blocks; see kernels/attention.cu.
struct AttentionShape {
  int threads = 128;         //!< of a block
  int block_heads = 1;       //!< query heads of one key/value head that a block computes
  int vector_elements = 1;   //!< that a lane loads at once
  int position_lanes = 1;    //!< neighbouring lanes with one position's elements: a power of two
  int position_vectors = 1;  //!< of each of these lanes
};
AttentionShape attention_shape(const ModelConfig& config, GpuDtype dtype, std::int64_t slots);

inline constexpr int row_kernel_threads = 256, draw_kernel_threads = 1024;

//! Of 32 bits, in a slot's mask, as "keep_allowed" reads it.
std::int64_t draw_mask_words(const ModelConfig& config);

//! "embed_and_norm", "add_and_norm", "gate", "attend", "keep_allowed" and "draw"; their comments say what they take.
const std::vector<std::string>& decode_kernel_names();

//! Throws Error for a model that the kernels cannot compute.
std::string decode_kernels_source(const ModelConfig& config, GpuDtype dtype, std::int64_t slots);

//! As the kernel `draw` reads and writes them.
struct DrawRequest {
  std::uint64_t chance = 0;  //!< of 2^53
  float temperature = 1.0F;
  std::int32_t top_k = 0;
  float top_p = 1.0F, min_p = 0.0F;
  std::int32_t is_wanted = 0, is_masked = 0;
};
static_assert(sizeof(DrawRequest) == 32);

//! That there is a mask is part of it, which one is not.
DrawRequest draw_request(const TokenDraw& draw);

struct DrawResult {
  std::int32_t id = 0;
  float sampled_log_probability = 0.0F, policy_log_probability = 0.0F;
  std::int32_t has_problem = 0;  //!< scores are not numbers
};
static_assert(sizeof(DrawResult) == 16);

}  // namespace cudal1
