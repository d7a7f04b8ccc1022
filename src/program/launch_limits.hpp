// Limits of every GPU we know (CUDA programming guide, table of technical specifications).
#pragma once

#include "program/plan.hpp"

namespace cudal1 {

inline constexpr Dim3 largest_grid{2147483647, 65535, 65535};
inline constexpr Dim3 largest_block{1024, 1024, 64};
inline constexpr std::int64_t most_threads_per_block = 1024;
inline constexpr std::int64_t most_blocks_per_cluster = 16;  // more than 8 only where a GPU allows it
inline constexpr std::int64_t most_shared_bytes = 227 * 1024;
inline constexpr std::int64_t most_local_bytes_per_thread = 512 * 1024;

}  // namespace cudal1
