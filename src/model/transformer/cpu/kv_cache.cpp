#include "model/transformer/cpu/kv_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "model/transformer/cpu/aligned_vector.hpp"

namespace cudal1 {

KvCache::KvCache(const ModelConfig& config, std::int64_t capacity)
    : layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_stride_((config.head_size + 15) / 16 * 16),
      capacity_(capacity),
      memory_(nullptr, &std::free) {
  const auto count = static_cast<std::size_t>(layers_ * kv_heads_ * 2 * capacity_ * head_stride_);
  std::size_t bytes = count * sizeof(float) + cache_line_bytes;
  memory_.reset(std::calloc(bytes, 1));
  if (!memory_)
    throw Error(
        fmt::format("no memory for the keys and values of {} tokens ({} MB); use fewer slots or a shorter context",
                    capacity, count * sizeof(float) >> 20U));
  void* first_line = memory_.get();
  values_ = static_cast<float*>(std::align(cache_line_bytes, count * sizeof(float), first_line, bytes));
}

void KvCache::copy_from(const KvCache& other, std::int64_t positions) {
  for (std::int64_t layer = 0; layer < layers_; ++layer)
    for (std::int64_t head = 0; head < kv_heads_; ++head)
      for (const std::int64_t which : {0, 1})
        std::copy_n(other.values_ + other.offset(layer, head, which), positions * head_stride_,
                    values_ + offset(layer, head, which));
}

}  // namespace cudal1
