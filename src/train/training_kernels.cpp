#include "train/training_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "train/training_kernel_text.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t longest_row = 65536;  // of a norm, which keeps it in registers

//! What a thread moves at once, as the kernels choose it.
std::int64_t vector_elements(std::int64_t row, GpuDtype dtype) {
  const auto widest = static_cast<std::int64_t>(16 / bytes_of(dtype));
  return row % widest == 0 ? widest : 1;
}

std::int64_t blocks_for(std::int64_t items, std::int64_t threads) { return (items + threads - 1) / threads; }

void check_config(const ModelConfig& config) {
  if (config.hidden <= 0 || config.hidden % 2 != 0 || config.hidden > longest_row)
    throw Error(fmt::format("a model of {} elements a position cannot be trained on a GPU: an even number up to {} can",
                            config.hidden, longest_row));
  if (config.head_size <= 0 || config.head_size % 2 != 0)
    throw Error(fmt::format("heads of {} elements cannot be trained on a GPU: an even number can", config.head_size));
}

}  // namespace

int norm_kernel_threads(const ModelConfig& config) {
  const std::int64_t pairs_a_thread = 3;  // 96 threads for a row of 576: all of them have something to do
  const std::int64_t threads = blocks_for(blocks_for(config.hidden / 2, pairs_a_thread), 32) * 32;
  return static_cast<int>(std::clamp<std::int64_t>(threads, 32, 1024));
}

std::int64_t mask_words(const ModelConfig& config) { return blocks_for(config.vocabulary, 64) * 2; }

std::int64_t gate_kernel_blocks(const ModelConfig& config, GpuDtype dtype, std::int64_t rows) {
  const std::int64_t vectors = config.feed_forward / vector_elements(config.feed_forward, dtype);
  return blocks_for(rows * vectors, gate_kernel_threads);
}

std::int64_t score_kernel_blocks(const ModelConfig& config, GpuDtype dtype) {
  return blocks_for(config.vocabulary / vector_elements(config.vocabulary, dtype), score_kernel_threads);
}

const std::vector<std::string>& training_kernel_names() {
  static const std::vector<std::string> names{"add_and_norm", "norm_backward", "rotate", "rotate_back",
                                              "gate",         "gate_backward", "score",  "score_backward"};
  return names;
}

std::string training_kernels_source(const ModelConfig& config, GpuDtype dtype) {
  check_config(config);
  std::string text(element_header(dtype));
  text += "#include <cudal1/reduce.cuh>\n";
  const auto number = [&](std::string_view name, std::int64_t value) {
    text += fmt::format("constexpr int {} = {};\n", name, value);
  };
  number("norm_threads", norm_kernel_threads(config));
  number("turn_threads", turn_kernel_threads);
  number("gate_threads", gate_kernel_threads);
  number("score_threads", score_kernel_threads);
  number("hidden", config.hidden);
  number("heads", config.heads);
  number("kv_heads", config.kv_heads);
  number("head_size", config.head_size);
  number("feed_forward", config.feed_forward);
  number("vocabulary", config.vocabulary);
  number("mask_words", mask_words(config));
  text += fmt::format("constexpr float norm_epsilon = {:.9e}f;\n", config.norm_epsilon);
  return text += training_kernel_text();
}

}  // namespace cudal1
