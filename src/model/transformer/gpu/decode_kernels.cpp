#include "model/transformer/gpu/decode_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/result.hpp"
#include "model/transformer/gpu/decode_kernel_files.hpp"

namespace cudal1 {
namespace {

constexpr int most_block_heads = 8;
constexpr std::int64_t most_block_elements =
    1024;  // of all heads of a block: each warp has sums of them in shared memory
constexpr std::int64_t most_head_size = 1024;
constexpr std::int64_t blocks_of_a_full_gpu = 132;  // one for each multiprocessor of a large one

void check_config(const ModelConfig& config) {
  if (config.kv_heads <= 0 || config.heads % config.kv_heads != 0)
    throw Error(fmt::format("{} query heads cannot share {} key/value heads", config.heads, config.kv_heads));
  if (config.head_size <= 0 || config.head_size % 2 != 0 || config.head_size > most_head_size)
    throw Error(fmt::format("heads of {} elements cannot be decoded on a GPU: an even number up to {} can",
                            config.head_size, most_head_size));
}

std::string constants(const ModelConfig& config, const AttentionShape& shape) {
  std::string text;
  const auto number = [&](std::string_view name, std::int64_t value) {
    text += fmt::format("constexpr int {} = {};\n", name, value);
  };
  const auto real = [&](std::string_view name, double value) {
    text += fmt::format("constexpr float {} = {:.9e}f;\n", name, value);
  };
  const auto flag = [&](std::string_view name, bool value) {
    text += fmt::format("constexpr bool {} = {};\n", name, value);
  };
  number("row_threads", row_kernel_threads);
  number("attention_threads", shape.threads);
  number("draw_threads", draw_kernel_threads);
  number("hidden", config.hidden);
  number("heads", config.heads);
  number("kv_heads", config.kv_heads);
  number("head_size", config.head_size);
  number("feed_forward", config.feed_forward);
  number("vocabulary", config.vocabulary);
  number("draw_mask_words", draw_mask_words(config));
  real("norm_epsilon", config.norm_epsilon);
  real("score_scale", std::numbers::log2e / std::sqrt(static_cast<double>(config.head_size)));
  flag("has_bias", config.attention_bias);
  flag("has_head_norm", config.query_key_norm);
  number("block_heads", shape.block_heads);
  number("vector_elements", shape.vector_elements);
  number("position_lanes", shape.position_lanes);
  number("position_vectors", shape.position_vectors);
  return text;
}

}  // namespace

std::string_view element_header(GpuDtype dtype) {
  switch (dtype) {
    case GpuDtype::f32:
      return "#include <cudal1/vector.cuh>\nusing Element = float;\n";
    case GpuDtype::bf16:
      return "#include <cudal1/bfloat16.cuh>\nusing Element = __nv_bfloat16;\n";
    case GpuDtype::f16:
      return "#include <cudal1/half.cuh>\nusing Element = __half;\n";
  }
  return {};
}

std::size_t bytes_of(GpuDtype dtype) { return dtype == GpuDtype::f32 ? 4 : 2; }

AttentionShape attention_shape(const ModelConfig& config, GpuDtype dtype, std::int64_t slots) {
  check_config(config);
  AttentionShape shape;
  const std::int64_t group = config.heads / config.kv_heads;
  for (int count = 1; count <= most_block_heads; ++count)
    if (group % count == 0 && count * config.head_size <= most_block_elements) shape.block_heads = count;
  if (slots * config.heads / shape.block_heads <= blocks_of_a_full_gpu)
    shape.threads = 256;  // few blocks, so large ones
  shape.vector_elements = 16 / static_cast<int>(bytes_of(dtype));
  while (config.head_size % shape.vector_elements != 0) shape.vector_elements /= 2;
  const auto vectors = static_cast<unsigned>(config.head_size / shape.vector_elements);
  shape.position_lanes = static_cast<int>(std::min(32U, std::bit_ceil(vectors)));
  shape.position_vectors = (static_cast<int>(vectors) + shape.position_lanes - 1) / shape.position_lanes;
  return shape;
}

std::int64_t draw_mask_words(const ModelConfig& config) { return (config.vocabulary + 63) / 64 * 2; }

const std::vector<std::string>& decode_kernel_names() {
  static const std::vector<std::string> names{"embed_and_norm", "add_and_norm", "gate",
                                              "attend",         "keep_allowed", "draw"};
  return names;
}

std::string decode_kernels_source(const ModelConfig& config, GpuDtype dtype, std::int64_t slots) {
  std::string text(element_header(dtype));
  text += "#include <cudal1/reduce.cuh>\n";
  text += constants(config, attention_shape(config, dtype, slots));
  for (const std::string_view file : decode_kernel_files()) text += file;
  return text;
}

DrawRequest draw_request(const TokenDraw& draw) {
  const SamplingParameters& parameters = draw.parameters;
  // uniform_at has 53 bits: scaled so, nothing is lost
  const auto chance = static_cast<std::uint64_t>(uniform_at(draw.seed, draw.position) * 0x1p53);
  return {chance, parameters.temperature, parameters.top_k, parameters.top_p, parameters.min_p, 1,
          draw.allowed ? 1 : 0};
}

}  // namespace cudal1
