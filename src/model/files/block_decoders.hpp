// One block of each quantised format as fp32. Formats are ggml's; https://github.com/ggml-org/ggml has their
// definition.
#pragma once

#include <cstddef>

namespace cudal1 {

//! 32 elements each. `values` gets them in the order of the row.
void decode_q8_0(const std::byte* block, float* values);
void decode_q4_0(const std::byte* block, float* values);
void decode_q4_1(const std::byte* block, float* values);
void decode_q5_0(const std::byte* block, float* values);
void decode_q5_1(const std::byte* block, float* values);

//! 256 elements each.
void decode_q4_k(const std::byte* block, float* values);
void decode_q5_k(const std::byte* block, float* values);
void decode_q6_k(const std::byte* block, float* values);

}  // namespace cudal1
