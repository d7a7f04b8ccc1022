// A share of the GPU that does not keep others from measuring for long.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "judge/gpu_lock.hpp"

namespace cudal1 {

//! For one thread. Who measures has the GPU alone for a tenth of a second, and an oracle may take half a minute: so
//! whoever works on a share asks now and then whether somebody waits, and lets them pass.
class SharedTurn {
 public:
  explicit SharedTurn(const GpuLock& lock) : lock_(lock) {}

  //! Waits for a share, which is kept until what it returns goes. Not while there is one.
  [[nodiscard]] std::shared_ptr<void> hold() {
    guard_.emplace(lock_.share());
    return {this, [](SharedTurn* turn) { turn->guard_.reset(); }};
  }

  //! Is there a share that somebody waits for?
  bool is_awaited() const { return guard_ && lock_.is_awaited(); }

  //! Gives the share away and waits for it to come back. Nothing of the caller's may be running on the GPU.
  void let_pass() {
    guard_.reset();
    guard_.emplace(lock_.share());
  }

 private:
  const GpuLock& lock_;
  std::optional<GpuLock::Guard> guard_;
};

}  // namespace cudal1
