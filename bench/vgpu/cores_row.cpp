#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int rounds = 40;
constexpr double least_seconds = 0.01;  // of one measurement, on one thread

//! Several launches, since one is short. Another comes before them, unmeasured: it finds threads asleep and memory in
//! the caches of those that had it before.
double seconds_of(Workload& workload, const Case& one, int launches, std::uint32_t threads) {
  workload.run(one, {.threads = threads});
  double sum = 0;
  for (int i = 0; i < launches; ++i) sum += workload.run(one, {.threads = threads}).seconds;
  return sum;
}

//! This thread stays on one of the cores that it may use, for as long as this is there.
class OnOneCore {
 public:
  explicit OnOneCore(int number) {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &all_) && number-- == 0) CPU_SET(core, &one);
    if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof all_, &all_); }
  OnOneCore(const OnOneCore&) = delete;

 private:
  cpu_set_t all_;
};

//! The same workload in another process, as often as it is told to.
class Neighbour {
 public:
  Neighbour(Workload& workload, const Case& one, int launches) {
    if (pipe(orders_) != 0 || pipe(reports_) != 0) throw Error("no pipe to another process");
    process_ = fork();
    if (process_ == 0) serve(workload, one, launches);
  }
  ~Neighbour() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    for (const int end : {orders_[0], orders_[1], reports_[0], reports_[1]}) close(end);
  }
  Neighbour(const Neighbour&) = delete;

  void begin() const {
    const char order = 0;
    if (write(orders_[1], &order, 1) != 1) throw Error("the other process takes no orders");
  }
  //! How long it took.
  double wait() const {
    double seconds = 0;
    if (read(reports_[0], &seconds, sizeof seconds) != sizeof seconds) throw Error("the other process has ended");
    return seconds;
  }

 private:
  [[noreturn]] void serve(Workload& workload, const Case& one, int launches) const {
    const OnOneCore here(1);
    for (char order = 0; read(orders_[0], &order, 1) == 1;) {
      const double seconds = seconds_of(workload, one, launches, 1);
      if (write(reports_[1], &seconds, sizeof seconds) != sizeof seconds) break;
    }
    _exit(0);
  }

  int orders_[2], reports_[2];
  pid_t process_ = -1;
};

struct Scaling {
  double threads = 0;    //!< how much faster two are than one
  double processes = 0;  //!< how much more two processes do that share nothing
};

double median_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

//! Of one thread, over the two cores: where other machines use the same processor, one is often faster than the other.
double launches_per_second_alone(Workload& workload, const Case& one, int launches) {
  double sum = 0;
  for (const int core : {0, 1}) {
    const OnOneCore here(core);
    sum += launches / seconds_of(workload, one, launches, 1) / 2;
  }
  return sum;
}

//! The median of many rounds, in each of which the measurements follow each other. Not the best of them: a core that
//! others use too is found undisturbed far more often than both of them at once.
Scaling scaling_of(Workload& workload, const Case& one) {
  const double once = workload.best_of(3, one, {.threads = 2}).seconds;
  const int launches = static_cast<int>(std::ceil(least_seconds / (2 * once)));
  const Neighbour neighbour(workload, one, launches);
  std::vector<double> threads, processes;
  for (int i = 0; i < rounds; ++i) {
    const double alone = launches_per_second_alone(workload, one, launches);
    threads.push_back(launches / seconds_of(workload, one, launches, 2) / alone);
    const OnOneCore here(0);
    neighbour.begin();
    const double beside = launches / seconds_of(workload, one, launches, 1);
    processes.push_back((beside + launches / neighbour.wait()) / alone);
  }
  return {median_of(threads), median_of(processes)};
}

}  // namespace

void two_cores_row(Workload& workload, nlohmann::json& rows) {
  constexpr double bar = 1.8;
  nlohmann::json by_threads, by_processes;
  double least = 1e9, least_of_processes = 1e9;
  for (const Case& one : all_cases()) {
    const Scaling scaling = scaling_of(workload, one);
    by_threads[one.kernel] = scaling.threads;
    by_processes[one.kernel] = scaling.processes;
    least = std::min(least, scaling.threads);
    least_of_processes = std::min(least_of_processes, scaling.processes);
  }
  rows.push_back(row("two threads against one, least of all kernels", least, "times", "at least 1.8 times",
                     least >= bar, by_threads));
  rows.push_back(row("two processes that share nothing against one, at the same moments, least of all kernels",
                     least_of_processes, "times", "none: it is the machine's", true, by_processes));
}

}  // namespace cudal1::bench
