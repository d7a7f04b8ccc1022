#include "bench/worker_pool.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t timed_together = 4;
constexpr std::chrono::milliseconds between_looks{200};

}  // namespace

WorkerPool::WorkerPool(std::vector<std::string> baselines, std::string device, const WorkerLimits& limits,
                       OnMade on_made)
    : baselines_(std::move(baselines)), device_(std::move(device)), limits_(limits), on_made_(std::move(on_made)) {
  for (int i = 0; i < std::max(1, limits_.at_once); ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
  for (const ModuleWorker* worker : making_) worker->end();
  changed_.notify_all();
}

void WorkerPool::add(const WorkerJob& job) {
  const std::lock_guard lock(mutex_);
  waiting_.insert(std::ranges::upper_bound(waiting_, job.nodes, std::greater<>(), &WorkerJob::nodes), job);
  changed_.notify_all();
}

void WorkerPool::no_more() {
  const std::lock_guard lock(mutex_);
  all_there_ = true;
  changed_.notify_all();
}

std::vector<WorkerPool::Ready> WorkerPool::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return all_there_; });
  // While nobody works, waiting for more would last for ever: there may be no room for them.
  changed_.wait(lock, [&] { return ready_.size() >= timed_together || in_work_ == 0; });
  std::vector<Ready> some(std::make_move_iterator(ready_.begin()), std::make_move_iterator(ready_.end()));
  ready_.clear();
  if (some.empty() && !waiting_.empty()) {  // somebody is about to take one
    changed_.wait(lock, [&] { return !ready_.empty() || (waiting_.empty() && in_work_ == 0); });
    std::ranges::move(ready_, std::back_inserter(some));
    ready_.clear();
  }
  return some;
}

void WorkerPool::ended(std::size_t workers) {
  const std::lock_guard lock(mutex_);
  alive_ -= workers;
  free_device_bytes_ = UINT64_MAX;  // what it was is no longer true; the next one looks again
  changed_.notify_all();
}

bool WorkerPool::has_room() const {
  if (alive_ == 0) return true;
  return alive_ < static_cast<std::size_t>(limits_.alive) && free_device_bytes_ >= limits_.device_bytes &&
         free_memory_bytes() >= limits_.host_bytes;
}

std::optional<WorkerJob> WorkerPool::take() {
  std::unique_lock lock(mutex_);
  const auto must_wait = [&] { return waiting_.empty() ? !all_there_ : standing_ || !has_room(); };
  while (!closed_ && must_wait()) changed_.wait_for(lock, between_looks);
  if (closed_ || waiting_.empty()) return std::nullopt;
  WorkerJob job = waiting_.front();
  waiting_.pop_front();
  ++alive_;
  ++in_work_;
  return job;
}

//! The operating system ends a process with the thread that started it, so threads stay until the pool goes.
void WorkerPool::work() {
  while (const auto job = take()) make(*job);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_; });
}

void WorkerPool::make(const WorkerJob& job) {
  Ready ready;
  ready.task = job.task;
  const auto begin = std::chrono::steady_clock::now();
  const ModuleWorker* worker = nullptr;
  std::uint64_t free_bytes = UINT64_MAX;
  try {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) throw Error("it is too late");
      ready.prepared.worker = std::make_unique<ModuleWorker>(job.module, device_, limits_.compile_threads);
      worker = ready.prepared.worker.get();
      making_.insert(worker);
      if (standing_) worker->pause();
    }
    make_ways(ready.prepared, job.package, baselines_);
    free_bytes = ready.prepared.worker->free_device_bytes();
  } catch (const std::exception& problem) {
    ready.error = problem.what();
  }
  ready.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  on_made_(ready);
  const std::lock_guard lock(mutex_);
  making_.erase(worker);
  if (worker) worker->resume();  // its answer may have come just before a standstill; from now on it waits by itself
  if (!ready.error.empty()) {
    ready.prepared.worker.reset();
    --alive_;
  }
  free_device_bytes_ = free_bytes;
  ready_.push_back(std::move(ready));
  --in_work_;
  changed_.notify_all();
}

void WorkerPool::stop() {
  const std::lock_guard lock(mutex_);
  standing_ = true;
  for (const ModuleWorker* worker : making_) worker->pause();
}

void WorkerPool::go_on() {
  const std::lock_guard lock(mutex_);
  standing_ = false;
  for (const ModuleWorker* worker : making_) worker->resume();
  changed_.notify_all();
}

}  // namespace cudal1
