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
  //! Lies on the host, in a page of its own that is cleared for every call; the device reads it. A program that found
  //! and wrote it would start early and pay for the host's time.
  unsigned* word_ = nullptr;
  unsigned ticket_ = 0;
  Clock::time_point opens_itself_;
};

}  // namespace cudal1::cuda
