#include "suite/task_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

std::optional<std::uint64_t> number_in(const char* file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;  // "max" is no number
}

std::uint64_t available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return kilobytes << 10;
    std::getline(file, unit);
  }
  return UINT64_MAX;  // nobody says
}

class Pool {
 public:
  Pool(std::size_t count, const PoolLimits& limits, const std::function<JobEnd(std::size_t)>& work)
      : count_(count), limits_(limits), work_(work) {}

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count(); ++i) threads.emplace_back([this] { run_some(); });
    threads.clear();  // joins
    std::ranges::sort(again_);
    for (const std::size_t job : again_) work_(job);
  }

 private:
  //! Jobs that begin together have not taken their memory yet: so many fit from the start.
  std::size_t thread_count() const {
    const std::uint64_t fitting = limits_.bytes_per_job == 0 ? count_ : free_memory_bytes() / limits_.bytes_per_job;
    const std::uint64_t wanted = static_cast<std::uint64_t>(std::max(1, limits_.jobs));
    return std::max<std::size_t>(1, std::min({std::uint64_t{count_}, fitting, wanted}));
  }

  void run_some() {
    for (std::size_t job = next_++; job < count_; job = next_++) {
      wait_for_memory();
      ++running_;
      const JobEnd end = work_(job);
      --running_;
      if (end == JobEnd::done) continue;
      const std::lock_guard lock(mutex_);
      again_.push_back(job);
    }
  }

  void wait_for_memory() const {
    while (running_ > 0 && free_memory_bytes() < limits_.bytes_per_job) std::this_thread::sleep_for(between_looks);
  }

  std::size_t count_;
  PoolLimits limits_;
  const std::function<JobEnd(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<int> running_ = 0;
  std::mutex mutex_;
  std::vector<std::size_t> again_;
};

}  // namespace

void run_jobs(std::size_t count, const PoolLimits& limits, const std::function<JobEnd(std::size_t)>& work) {
  Pool(count, limits, work).run();
}

std::uint64_t free_memory_bytes() {
  const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  const std::uint64_t in_container = most && used && *most > *used ? *most - *used : UINT64_MAX;
  return std::min(available_on_machine(), in_container);
}

bool says_short_of_memory(const std::string& message) {
  constexpr const char* signs[] = {"not enough memory", "out of memory", "of device memory",
                                   "MemoryError",       "bad_alloc",     "by signal 9"};
  return std::ranges::any_of(signs, [&](const char* sign) { return message.find(sign) != std::string::npos; });
}

}  // namespace cudal1
