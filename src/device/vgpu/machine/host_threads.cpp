#include "device/vgpu/machine/host_threads.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cudal1::vgpu {
namespace {

//! One thread, which waits for work all its life.
class Helper {
 public:
  Helper() {
    std::thread([this] { serve(); }).detach();
  }

  void begin(const std::function<void(std::size_t)>& work, std::size_t number) {
    const std::lock_guard lock(mutex_);
    number_ = number;
    work_ = &work;
    changed_.notify_all();
  }
  void wait() {
    wait_until([this] { return !work_; });
  }

 private:
  using Clock = std::chrono::steady_clock;

  void serve() {
    for (;;) {
      wait_until([this] { return work_ != nullptr; });
      (*work_.load())(number_);
      const std::lock_guard lock(mutex_);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  //! Threads end at nearly the same time, so there is little to wait for the last: less than it takes to fall asleep
  //! and be woken, some 50 us on a virtual machine. The same for a launch that follows at once.
  template <class Condition>
  void wait_until(Condition holds) {
    const auto patience = Clock::now() + std::chrono::microseconds(200);
    while (Clock::now() < patience) {
      if (holds()) return;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, holds);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<const std::function<void(std::size_t)>*> work_ = nullptr;
  std::size_t number_ = 0;  // before work_
};

//! Those that have nothing to do.
class IdleHelpers {
 public:
  Helper& take() {
    const std::lock_guard lock(mutex_);
    if (owner_ != getpid()) {  // threads do not come along into a process that was forked off
      idle_.clear();
      owner_ = getpid();
    }
    if (idle_.empty()) return *new Helper;  // as long-lived as its thread
    Helper& helper = *idle_.back();
    idle_.pop_back();
    return helper;
  }
  void give_back(Helper& helper) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(&helper);
  }

 private:
  std::mutex mutex_;
  pid_t owner_ = getpid();
  std::vector<Helper*> idle_;
};

}  // namespace

void run_on_host_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  static IdleHelpers& all = *new IdleHelpers;  // its threads may outlive everything that is destroyed at the end
  std::vector<Helper*> helpers;
  for (std::size_t i = 1; i < count; ++i) {
    helpers.push_back(&all.take());
    helpers.back()->begin(work, i);
  }
  work(0);
  for (Helper* helper : helpers) {
    helper->wait();
    all.give_back(*helper);
  }
}

}  // namespace cudal1::vgpu
