// Python processes that make programs and baselines ready, many at once, and stand still while one of them is timed.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/device_memory.hpp"
#include "bench/task_timer.hpp"
#include "suite/passing_queue.hpp"

namespace cudal1 {

struct WorkerJob {
  std::size_t task = 0;
  std::filesystem::path module;
  std::shared_future<std::filesystem::path> package;  //!< baselines are made while it is waited for; empty: only these
  int nodes = 0;                                      //!< of its graph: large ones take compilers longest
  std::uint64_t device_bytes = 0;                     //!< that its process will need, by an estimate
};

struct WorkerLimits {
  int at_once = 1;               //!< that make something
  int alive = 1;                 //!< these, and those that wait to be timed
  std::uint64_t host_bytes = 0;  //!< a further one begins only while that much of the machine's memory is free
};

class WorkerPool {
 public:
  struct Ready {
    std::size_t task = 0;
    DeviceMemory::Share share;  //!< goes after the worker
    PreparedWorker prepared;
    std::string error;     //!< not empty: there is no worker
    double seconds = 0.0;  //!< of making
    int measurements = 0;  //!< that it has been through
  };
  using OnMade = std::function<void(const Ready&)>;

  //! Workers keep their shares of `memory` until they go. `on_made` is called from any thread, whenever one
  //! is made or cannot be.
  WorkerPool(
      std::vector<std::string> baselines, std::string device, const WorkerLimits& limits, DeviceMemory& memory,
      OnMade on_made = [](const Ready&) {});
  //! Ends all processes; packages that are still waited for must have been given up before.
  ~WorkerPool();

  //! Begins as soon as there is room for it; of those that wait and fit, the largest comes first: whoever starts it
  //! last waits for it in the end. Who finds too little memory nevertheless waits for more and begins again.
  void add(const WorkerJob& job);
  void no_more();

  //! Some tasks that can be timed, or have failed: a few at once, since everything has to stand still meanwhile. Empty:
  //! all are done. Waits until there are no more to come. Who was set aside comes when nobody else is left, or can
  //! begin before it goes.
  std::vector<Ready> next();

  //! To be timed again later: whatever disturbed it may be over then.
  void set_aside(Ready ready);

  //! Every process that makes something stands still until the guard goes.
  class Standstill {
   public:
    explicit Standstill(WorkerPool& pool) : pool_(pool) { pool_.stop(); }
    ~Standstill() { pool_.go_on(); }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

   private:
    WorkerPool& pool_;
  };

  //! Its process has ended: there is room for another.
  void ended(std::size_t workers = 1);

 private:
  struct Admitted {
    WorkerJob job;
    DeviceMemory::Share share;
  };

  void work();
  std::optional<Admitted> take();
  std::optional<Admitted> take_fitting();
  bool has_room() const;
  void make(Admitted admitted);
  void start_worker(Ready& ready, const WorkerJob& job);
  void finish(Ready ready, WorkerJob job);
  void stop();
  void go_on();

  std::vector<std::string> baselines_;
  std::string device_;
  WorkerLimits limits_;
  DeviceMemory& memory_;
  OnMade on_made_;
  std::mutex mutex_;
  std::condition_variable changed_;
  PassingQueue<WorkerJob> waiting_;
  std::set<const ModuleWorker*> making_;
  std::vector<Ready> ready_, aside_;
  std::size_t alive_ = 0, in_work_ = 0;
  bool standing_ = false, closed_ = false, all_there_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace cudal1
