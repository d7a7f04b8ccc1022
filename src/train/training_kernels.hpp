// The CUDA kernels of a training step besides matrix products and attention, written for one model: sizes are constants
// of the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_config.hpp"
#include "model/transformer/gpu/decode_kernels.hpp"

namespace cudal1 {

inline constexpr int turn_kernel_threads = 128, gate_kernel_threads = 256, score_kernel_threads = 512;

//! Of "add_and_norm" and "norm_backward".
int norm_kernel_threads(const ModelConfig& config);

//! Of 32 bits, in a row of masks over the vocabulary.
std::int64_t mask_words(const ModelConfig& config);

//! Blocks of "gate" and "gate_backward".
std::int64_t gate_kernel_blocks(const ModelConfig& config, GpuDtype dtype, std::int64_t rows);
//! Blocks along a row of "score_backward".
std::int64_t score_kernel_blocks(const ModelConfig& config, GpuDtype dtype);

//! Comments of kernels/rows.cu say what they take.
const std::vector<std::string>& training_kernel_names();

//! Throws Error for a model that the kernels cannot compute.
std::string training_kernels_source(const ModelConfig& config, GpuDtype dtype);

}  // namespace cudal1
