// Whose turn it is on the GPU, as far as a bench is concerned.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "judge/gpu_lock.hpp"

namespace cudal1 {

//! The GPU's lock, where there is a GPU: shared from the start, since whatever a bench does uses it.
class GpuTurn {
 public:
  explicit GpuTurn(const std::string& gpu_id) {
    if (!gpu_id.empty()) lock_.emplace(gpu_id);
    share();
  }
  void share() {
    if (lock_) guard_ = std::make_unique<GpuLock::Guard>(lock_->share());
  }
  void take_alone() {
    give_up();
    if (lock_) guard_ = std::make_unique<GpuLock::Guard>(lock_->alone());
  }
  void give_up() { guard_.reset(); }

 private:
  std::optional<GpuLock> lock_;
  std::unique_ptr<GpuLock::Guard> guard_;
};

}  // namespace cudal1
