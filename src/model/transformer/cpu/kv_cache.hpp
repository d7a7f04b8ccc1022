// Keys and values of one text, for all layers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "model/model_config.hpp"

namespace cudal1 {

class KvCache {
 public:
  //! Memory of positions that nothing was written to is not taken from the system.
  KvCache(const ModelConfig& config, std::int64_t capacity);

  std::int64_t capacity() const { return capacity_; }
  //! (capacity, head_stride)
  float* keys(std::int64_t layer, std::int64_t kv_head) { return values_ + offset(layer, kv_head, 0); }
  float* values(std::int64_t layer, std::int64_t kv_head) { return values_ + offset(layer, kv_head, 1); }
  //! A head's elements, padded with zeros to whole vectors of 16.
  std::int64_t head_stride() const { return head_stride_; }
  //! The first `positions` of another text of the same model; they fit.
  void copy_from(const KvCache& other, std::int64_t positions);

 private:
  std::int64_t offset(std::int64_t layer, std::int64_t kv_head, std::int64_t which) const {
    return ((layer * kv_heads_ + kv_head) * 2 + which) * capacity_ * head_stride_;
  }

  std::int64_t layers_, kv_heads_, head_stride_, capacity_;
  std::unique_ptr<void, decltype(&std::free)> memory_;
  float* values_ = nullptr;  //!< at the first cache line of the memory
};

}  // namespace cudal1
