// Threads that share the pieces of one short task after the other, as a decoder has hundreds of them a token.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace cudal1 {

class WorkerTeam {
 public:
  explicit WorkerTeam(int threads);  //!< the caller is one of them
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  //! Calls work(0) … work(pieces - 1), each once, on whichever thread is free; returns when all are done. One caller at
  //! a time. `work` must not throw.
  void run(std::uint32_t pieces, const std::function<void(std::uint32_t)>& work);

 private:
  void work_until_stopped();
  void take_pieces();

  // Pieces of the task in the upper half, the next of them in the lower: a thread that comes late takes none of a task
  // that is over, and never looks at its function.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> unfinished_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> stopping_{false};
  const std::function<void(std::uint32_t)>* work_ = nullptr;
  std::vector<std::thread> workers_;
};

}  // namespace cudal1
