#pragma once

#include <algorithm>
#include <chrono>

namespace cudal1::cuda {

//! How long the gate may stay closed, learned from one plan's calls.
class GateLimit {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr Duration shortest = std::chrono::milliseconds(1), longest = std::chrono::milliseconds(100);
  static constexpr int patience = 10;  //!< a host that others slow down takes some times as long as in the call before
  static constexpr int most_expirations = 3;

  //! False for a plan that could not be enqueued whole while the device waits, so many times in a row.
  bool useful() const { return expired_in_a_row_ < most_expirations; }
  Duration longest_wait() const { return longest_wait_; }
  void learn(Duration enqueueing, bool held) {
    longest_wait_ = std::clamp<Duration>(patience * enqueueing, shortest, longest);
    expired_in_a_row_ = held ? 0 : expired_in_a_row_ + 1;
  }

 private:
  Duration longest_wait_ = shortest;
  int expired_in_a_row_ = 0;
};

}  // namespace cudal1::cuda
