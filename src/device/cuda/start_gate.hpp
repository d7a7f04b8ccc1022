// Holds the device back until a whole call is enqueued, so that its time tells nothing about how fast the host was.
#pragma once

#include <chrono>

#include "device/cuda/cuda_device.hpp"

namespace cudal1::cuda {

class StartGate {
 public:
  explicit StartGate(CUfunction kernel);
  ~StartGate();
  StartGate(const StartGate&) = delete;
  StartGate& operator=(const StartGate&) = delete;

  //! What is enqueued from now on waits for open(), but no longer than this: a call that needs the device before it is
  //! enqueued (a library step that synchronises, more launches than the queue holds) must not wait forever.
  void close(CUstream stream, std::chrono::nanoseconds longest_wait);
  //! Returns whether the device has certainly waited until now.
  bool open();

 private:
  using Clock = std::chrono::steady_clock;
  CUfunction kernel_;
  unsigned* word_ = nullptr;  // on the host, read by the device; a program that found and wrote it would start early
                              // and pay for the host's time
  unsigned ticket_ = 0;
  Clock::time_point opens_itself_;
};

//! How long the gate may stay closed, learned from one plan's calls.
class GateLimit {
 public:
  //! False for a plan that never enqueues its whole call while the device waits.
  bool useful() const { return expired_in_a_row_ < most_expirations; }
  std::chrono::nanoseconds longest_wait() const { return longest_wait_; }
  void learn(std::chrono::nanoseconds enqueueing, bool held);

 private:
  static constexpr int most_expirations = 3;
  std::chrono::nanoseconds longest_wait_ = std::chrono::milliseconds(1);
  int expired_in_a_row_ = 0;
};

}  // namespace cudal1::cuda
