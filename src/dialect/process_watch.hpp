// A process and all it started, seen from outside through /proc: nothing it says about itself is believed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace cudal1 {

struct ProcessCount {
  int processes = 0, threads = 0;
};

class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t root = -1) : root_(root) {}

  //! The root's descendants, without the root.
  std::vector<pid_t> descendants() const;
  ProcessCount count() const;

  //! The share of a core that is used over this time, all threads together but the first of each process, which may
  //! wait awake for the next request.
  double background_load(std::chrono::milliseconds window) const;

  //! Is there a thread without a system call filter, by the kernel's word, in a descendant that has started nobody?
  bool has_unfiltered_thread() const;

  //! Kills every descendant, those that start meanwhile as well.
  void kill_descendants() const;

 private:
  std::int64_t background_nanoseconds() const;
  pid_t root_;
};

}  // namespace cudal1
