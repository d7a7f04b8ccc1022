#pragma once

#include <map>
#include <mutex>
#include <thread>

#include "bench/preparation_process.hpp"

namespace cudal1 {

//! A process for each thread that judges.
class JudgeProcesses {
 public:
  PreparationProcess& of_this_thread() {
    const std::lock_guard lock(mutex_);
    return processes_[std::this_thread::get_id()];
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, PreparationProcess> processes_;
};

}  // namespace cudal1
