// A share of the GPU that does not keep others from measuring for long.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "judge/gpu_lock.hpp"

namespace cudal1 {

//! About what verifying takes, so that whoever verifies mostly comes to measure in the same gap.
inline constexpr std::chrono::milliseconds before_others_measure{500};

//! For one thread. Who measures has the GPU alone for a tenth of a second, and an oracle may take half a minute: so
//! whoever works on a share asks now and then whether somebody waits, and lets them pass. Not at once: each time the
//! GPU must be empty first, so it is better if others who will want to measure soon come to it meanwhile, and then all
//! of them measure one after the other.
class SharedTurn {
 public:
  SharedTurn(const GpuLock& lock, std::chrono::milliseconds patience, GpuUse use = GpuUse::check)
      : lock_(lock), patience_(patience), use_(use) {}

  //! Waits for a share, which is kept until what it returns goes. Not while there is one.
  [[nodiscard]] std::shared_ptr<void> hold() {
    begin();
    return {this, [](SharedTurn* turn) { turn->guard_.reset(); }};
  }

  //! Is there a share that somebody has waited for long enough? Since when is not known, only since when it was asked
  //! for the first time; or perhaps since the last time that nobody did, if that is as long ago.
  bool is_due() {
    const Clock::time_point now = Clock::now(), asked_before = std::exchange(asked_, now);
    if (!guard_ || !lock_.is_awaited()) {
      awaited_since_.reset();
      return false;
    }
    if (!awaited_since_) awaited_since_ = now;
    return now - *awaited_since_ >= patience_ || now - asked_before >= patience_;
  }

  //! Gives the share away and waits for it to come back. Nothing of the caller's may be running on the GPU.
  void let_pass() {
    guard_.reset();
    begin();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void begin() {
    guard_.emplace(lock_.share(use_));
    awaited_since_.reset();
    asked_ = Clock::now();
  }

  const GpuLock& lock_;
  const std::chrono::milliseconds patience_;
  const GpuUse use_;
  Clock::time_point asked_{};
  std::optional<Clock::time_point> awaited_since_;
  std::optional<GpuLock::Guard> guard_;
};

}  // namespace cudal1
