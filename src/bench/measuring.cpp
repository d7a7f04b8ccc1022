#include "bench/measuring.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/seconds_since.hpp"
#include "judge/timing_statistics.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds device_settles{50};  // what was enqueued before the standstill runs out

//! A process with gigabytes on the GPU takes its time to end, and must not while another is timed.
std::jthread end_beside(WorkerPool& pool, std::vector<WorkerPool::Ready> finished) {
  return std::jthread([&pool, finished = std::move(finished)]() mutable {
    const std::size_t count = finished.size();
    for (const WorkerPool::Ready& ready : finished) ready.prepared.worker->end();  // all at once
    finished.clear();
    pool.ended(count);
  });
}

}  // namespace

Measuring::Measuring(std::vector<BenchItem>& items, const DeviceMemory& memory, const TimingLimits& limits,
                     Random& random, MeasuringListener listener)
    : items_(items), memory_(memory), limits_(limits), random_(random), listener_(std::move(listener)) {}

void Measuring::time_all(WorkerPool& pool, GpuTurn& turn) {
  std::jthread ending;
  for (auto some = pool.next(); !some.empty(); some = pool.next()) {
    if (ending.joinable()) ending.join();
    const WorkerPool::Standstill standstill(pool);
    turn.take_alone();
    std::this_thread::sleep_for(device_settles);
    std::vector<WorkerPool::Ready> finished;
    for (WorkerPool::Ready& ready : some)
      if (time_one(ready) == Times::unsettled)
        pool.set_aside(std::move(ready));
      else if (ready.prepared.worker)
        finished.push_back(std::move(ready));
    turn.give_up();
    ending = end_beside(pool, std::move(finished));
    turn.share();
  }
}

//! Its pool has tried whatever could be tried where it was not made. Who was made and is short of memory now comes
//! again, with more.
Measuring::Times Measuring::time_one(WorkerPool::Ready& ready) {
  BenchItem& item = items_[ready.task];
  if (item.done || !item.judged) return Times::final;  // made early; its program is wrong, or judged another time
  const auto begin = std::chrono::steady_clock::now();
  bool wants_more = false;
  std::string unstable;
  try {
    if (ready.prepared.worker) unstable = time_ways(ready.prepared, item.ratios, limits_for(ready), random_);
  } catch (const std::exception& problem) {
    ready.error = problem.what();
    wants_more = says_short_of_memory(ready.error) && !memory_.is_everything(ready.share.bytes());
  }
  const double seconds = seconds_since(begin);
  item.row.seconds = seconds + (ready.measurements > 0 ? item.row.seconds : 0.0);
  listener_.measured(item, seconds, ready.error + unstable);
  if (!unstable.empty() && ++ready.measurements < most_measurements) return Times::unsettled;
  listener_.through(item);
  if (wants_more)
    item.worker_bytes = memory_.more_than(ready.share.bytes());
  else
    finish(item, ready, unstable);
  return Times::final;
}

//! What did not settle when nothing else was going on either has longer the last time.
TimingLimits Measuring::limits_for(const WorkerPool::Ready& ready) const {
  TimingLimits limits = limits_;
  limits.seconds *= std::max(1, ready.measurements);
  return limits;
}

void Measuring::finish(BenchItem& item, WorkerPool::Ready& ready, const std::string& unstable) const {
  if (ready.error.empty()) item.row.ways = std::move(ready.prepared.ways);
  for (WayTimes& way : item.row.ways)
    if (const auto ahead = item.compile_seconds.find(way.way); ahead != item.compile_seconds.end())
      way.make_seconds += ahead->second;
  if (!unstable.empty())
    listener_.finish(item, std::string(to_string(Status::unstable)), unstable);
  else
    listener_.finish(item, ready.error.empty() ? "ok" : "failed", ready.error);
}

}  // namespace cudal1
