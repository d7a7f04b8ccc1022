#include "suite/task_pool.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/host_memory.hpp"
#include "suite/passing_queue.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

class Pool {
 public:
  Pool(std::size_t count, const PoolLimits& limits, const std::function<JobEnd(std::size_t)>& work)
      : count_(count), limits_(limits), work_(work) {}

  void run() {
    for (std::size_t job = 0; job < count_; ++job) waiting_.add(job);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count(); ++i) threads.emplace_back([this] { run_some(); });
    threads.clear();  // joins
    std::ranges::sort(alone_);
    for (const std::size_t job : alone_) run_alone(job);
  }

 private:
  //! Jobs that begin together have not taken their memory yet: so many fit from the start.
  std::size_t thread_count() const {
    const std::uint64_t fitting = limits_.bytes_per_job == 0 ? count_ : free_memory_bytes() / limits_.bytes_per_job;
    const std::uint64_t wanted = static_cast<std::uint64_t>(std::max(1, limits_.jobs));
    return std::max<std::size_t>(1, std::min({std::uint64_t{count_}, fitting, wanted}));
  }

  void run_some() {
    while (const auto job = next()) {
      const JobEnd end = work_(*job);
      const std::lock_guard lock(mutex_);
      --running_;
      if (end == JobEnd::again) waiting_.add(*job, 1);
      if (end == JobEnd::short_of_memory) alone_.push_back(*job);
      changed_.notify_all();
    }
  }

  //! Nothing only when all have ended: one that runs may have to come again.
  std::optional<std::size_t> next() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty() || running_ > 0) {
      if (const auto job = has_memory() ? waiting_.take(may_begin()) : std::nullopt) {
        ++running_;
        return job;
      }
      changed_.wait_for(lock, between_looks);
    }
    return std::nullopt;
  }

  std::function<bool(std::size_t)> may_begin() const {
    return limits_.may_begin ? limits_.may_begin : [](std::size_t) { return true; };
  }

  bool has_memory() const { return running_ == 0 || free_memory_bytes() >= limits_.bytes_per_job; }

  void run_alone(std::size_t job) {
    const auto may_begin_now = may_begin();
    for (JobEnd end = JobEnd::again; end == JobEnd::again; end = work_(job))
      while (!may_begin_now(job)) std::this_thread::sleep_for(between_looks);
  }

  std::size_t count_;
  PoolLimits limits_;
  const std::function<JobEnd(std::size_t)>& work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  PassingQueue<std::size_t> waiting_;
  int running_ = 0;
  std::vector<std::size_t> alone_;
};

}  // namespace

void run_jobs(std::size_t count, const PoolLimits& limits, const std::function<JobEnd(std::size_t)>& work) {
  Pool(count, limits, work).run();
}

bool says_short_of_memory(const std::string& message) {
  // A library that cannot be started has found no room for its workspace; cuDNN finds "no engine" where none fits.
  constexpr std::string_view signs[] = {"not enough memory",
                                        "out of memory",
                                        "out_of_memory",
                                        "outofmemory",
                                        "of device memory",
                                        "no memory left",
                                        "cannot allocate memory",
                                        "memoryerror",
                                        "cudaerrormemoryallocation",
                                        "bad_alloc",
                                        "alloc_failed",
                                        "allocation_failed",
                                        "cublas_status_not_initialized",
                                        "cudnn_status_not_initialized",
                                        "unable to find an engine",
                                        "by signal 9"};
  std::string lower = message;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(signs, [&](std::string_view sign) { return lower.find(sign) != std::string::npos; });
}

}  // namespace cudal1
