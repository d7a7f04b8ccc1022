#include "bench/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/host_memory.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "bench/compile_ahead.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t timed_together = 4;
constexpr std::chrono::milliseconds between_looks{200};

}  // namespace

WorkerPool::WorkerPool(std::vector<std::string> baselines, std::string device, const WorkerLimits& limits,
                       DeviceMemory& memory, OnMade on_made)
    : baselines_(std::move(baselines)),
      device_(std::move(device)),
      limits_(limits),
      memory_(memory),
      on_made_(std::move(on_made)) {
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
  waiting_.add(job, job.nodes);
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
  while (true) {
    // While nobody works, waiting for more would last for ever: there may be no room for them.
    changed_.wait(lock, [&] { return ready_.size() >= timed_together || in_work_ == 0; });
    if (!ready_.empty()) return std::exchange(ready_, {});
    if (waiting_.empty()) return std::exchange(aside_, {});
    // Somebody is about to take one, or there is no room for it beside those that were set aside.
    const bool goes_on = changed_.wait_for(lock, 3 * between_looks, [&] { return in_work_ > 0 || !ready_.empty(); });
    if (!goes_on && !aside_.empty()) return std::exchange(aside_, {});
  }
}

void WorkerPool::set_aside(Ready ready) {
  const std::lock_guard lock(mutex_);
  aside_.push_back(std::move(ready));
}

void WorkerPool::ended(std::size_t workers) {
  const std::lock_guard lock(mutex_);
  alive_ -= workers;
  changed_.notify_all();
}

bool WorkerPool::has_room() const {
  const std::size_t alive = alive_ - aside_.size();
  if (alive == 0) return true;
  return alive < static_cast<std::size_t>(limits_.alive) && free_memory_bytes() >= limits_.host_bytes;
}

std::optional<WorkerPool::Admitted> WorkerPool::take_fitting() {
  if (standing_ || !has_room()) return std::nullopt;
  std::optional<DeviceMemory::Share> share;
  const auto may_begin = [&](const WorkerJob& waiting) {
    share = memory_.try_take(waiting.device_bytes);
    return share.has_value();
  };
  auto job = waiting_.take(may_begin);
  if (!job) return std::nullopt;
  ++alive_;
  ++in_work_;
  return Admitted{std::move(*job), std::move(*share)};
}

//! Nothing when all is made: one that is being made may have to begin again.
std::optional<WorkerPool::Admitted> WorkerPool::take() {
  std::unique_lock lock(mutex_);
  while (!closed_ && !(all_there_ && waiting_.empty() && in_work_ == 0)) {
    if (auto admitted = take_fitting()) return admitted;
    changed_.wait_for(lock, between_looks);
  }
  return std::nullopt;
}

//! The operating system ends a process with the thread that started it, so threads stay until the pool goes.
void WorkerPool::work() {
  while (auto admitted = take()) make(std::move(*admitted));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_; });
}

void WorkerPool::start_worker(Ready& ready, const WorkerJob& job) {
  const bool alone = ready.share.bytes() == memory_.total_bytes();
  const std::lock_guard lock(mutex_);
  if (closed_) throw Error("it is too late");
  ready.prepared.worker = std::make_unique<ModuleWorker>(job.module, device_, alone ? 0 : compile_threads(job.nodes));
  making_.insert(ready.prepared.worker.get());
  if (standing_) ready.prepared.worker->pause();
}

void WorkerPool::make(Admitted admitted) {
  Ready ready;
  ready.task = admitted.job.task;
  ready.share = std::move(admitted.share);
  const auto begin = std::chrono::steady_clock::now();
  try {
    start_worker(ready, admitted.job);
    make_ways(ready.prepared, admitted.job.package, baselines_);
  } catch (const std::exception& problem) {
    ready.error = problem.what();
  }
  ready.seconds = seconds_since(begin);
  finish(std::move(ready), std::move(admitted.job));
}

void WorkerPool::finish(Ready ready, WorkerJob job) {
  const bool wants_more = says_short_of_memory(ready.error) && !memory_.is_everything(ready.share.bytes());
  job.device_bytes = memory_.more_than(ready.share.bytes());  // if it comes again
  on_made_(ready);
  const std::lock_guard lock(mutex_);
  if (const ModuleWorker* worker = ready.prepared.worker.get()) {
    making_.erase(worker);
    worker->resume();  // its answer may have come just before a standstill; from now on it waits by itself
  }
  if (!ready.error.empty()) {
    ready.prepared.worker.reset();
    ready.share.give_back();
    --alive_;
  }
  if (wants_more)
    waiting_.add(job, job.nodes);
  else
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
