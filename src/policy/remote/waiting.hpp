// Clocks and sleep between attempts, handed in so that tests need not wait.
#pragma once

#include <chrono>
#include <functional>

namespace cudal1 {

struct Waiting {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<std::chrono::system_clock::time_point()> wall_now;  //!< for dates that servers send
  std::function<void(std::chrono::milliseconds)> sleep;
};

Waiting real_waiting();

//! Sleeps in short pieces; false: it was cancelled.
bool sleep_until(std::chrono::steady_clock::time_point end, const Waiting& waiting,
                 const std::function<bool()>& cancelled);

}  // namespace cudal1
