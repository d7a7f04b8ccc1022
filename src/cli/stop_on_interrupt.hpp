#pragma once

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace cudal1 {

//! The first Ctrl-C asks the command to end and report; a second one ends it.
class StopOnInterrupt {
 public:
  StopOnInterrupt() {
    std::signal(SIGINT, [](int) {
      if (requested_.exchange(true)) std::_Exit(130);
    });
  }
  ~StopOnInterrupt() { std::signal(SIGINT, SIG_DFL); }
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

  static bool is_requested() { return requested_.load(); }

 private:
  static inline std::atomic<bool> requested_ = false;
};

}  // namespace cudal1
