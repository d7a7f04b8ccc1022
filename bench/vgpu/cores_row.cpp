#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int rounds = 60;
constexpr double least_seconds = 0.01;  // of one measurement, on one thread

//! The same workload again and again in another process, but only while it is let.
class Neighbour {
 public:
  Neighbour(Workload& workload, const Case& one) : process_(fork()) {
    if (process_ == 0)
      for (;;) workload.run(one);
    rest();
  }
  ~Neighbour() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;

  void work() const {
    if (process_ > 0) kill(process_, SIGCONT);
  }
  void rest() const {
    if (process_ <= 0) return;
    kill(process_, SIGSTOP);
    waitpid(process_, nullptr, WUNTRACED);
  }

 private:
  pid_t process_;
};

//! Several launches, since one is short.
double seconds_of(Workload& workload, const Case& one, int launches, std::uint32_t threads) {
  double sum = 0;
  for (int i = 0; i < launches; ++i) sum += workload.run(one, {.threads = threads}).seconds;
  return sum;
}

struct Scaling {
  double threads = 0;    //!< how much faster two are than one
  double processes = 0;  //!< how much more two processes do that share nothing
};

//! The best of many rounds counts, for one thread and for two: what else the machine does only ever adds time. The
//! three measurements of a round follow each other, so that each finds the same quiet moments.
Scaling scaling_of(Workload& workload, const Case& one) {
  const double once = workload.best_of(3, one).seconds;
  const int launches = static_cast<int>(std::ceil(least_seconds / once));
  const Neighbour neighbour(workload, one);
  neighbour.work();  // until both have pages of their own
  seconds_of(workload, one, launches, 1);
  neighbour.rest();
  double alone = 1e9, together = 1e9, beside = 1e9;
  for (int i = 0; i < rounds; ++i) {
    alone = std::min(alone, seconds_of(workload, one, launches, 1));
    together = std::min(together, seconds_of(workload, one, launches, 2));
    neighbour.work();
    beside = std::min(beside, seconds_of(workload, one, launches, 1));
    neighbour.rest();
  }
  return {alone / together, 2 * alone / beside};
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
