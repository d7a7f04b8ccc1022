// The last stage of a bench: what was made ready is timed, and nothing else happens meanwhile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "bench/bench_item.hpp"
#include "bench/gpu_turn.hpp"
#include "bench/task_timer.hpp"
#include "bench/worker_pool.hpp"

namespace cudal1 {

//! Who hears what came of it. Called from the thread that measures.
struct MeasuringListener {
  std::function<void(const BenchItem& item, double seconds, const std::string& details)> measured;  //!< each time
  std::function<void(const BenchItem& item)> through;                                               //!< no more times
  std::function<void(BenchItem& item, const std::string& status, const std::string& error)> finish;
};

class Measuring {
 public:
  //! `items`: by the numbers that workers have. Whoever is short of memory is not finished, and asks for more of it.
  Measuring(std::vector<BenchItem>& items, const DeviceMemory& memory, const TimingLimits& limits, Random& random,
            MeasuringListener listener);

  //! Until the pool has no more.
  void time_all(WorkerPool& pool, GpuTurn& turn);

 private:
  enum class Times { final, unsettled };
  Times time_one(WorkerPool::Ready& ready);
  TimingLimits limits_for(const WorkerPool::Ready& ready) const;
  void finish(BenchItem& item, WorkerPool::Ready& ready, const std::string& unstable) const;

  std::vector<BenchItem>& items_;
  const DeviceMemory& memory_;
  const TimingLimits& limits_;
  Random& random_;
  MeasuringListener listener_;
};

}  // namespace cudal1
