#include "base/other_threads.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

// What glibc runs setuid in all threads with: no mask of a thread holds it, since its functions leave it out of them.
constexpr int signal_that_nobody_blocks = 33;
constexpr std::chrono::seconds patience{2};

//! As the kernel wants it, for signals that libc keeps for itself.
struct KernelSignalAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  std::uint64_t mask;
};

int (*current_action)(int) = nullptr;
int current_argument = 0;
std::atomic<int> answers{0}, problem{0};
static_assert(std::atomic<int>::is_always_lock_free);

void answer(int) {
  const int before = errno;
  if (const int failed = current_action(current_argument)) problem = failed;
  ++answers;
  errno = before;
}

//! Handles the signal as long as it lives.
class SignalHandler {
 public:
  SignalHandler() {
    // libc knows how a handler returns on this machine: it installs ours for another signal, and we take that over.
    struct sigaction ours {
    }, others{};
    ours.sa_handler = answer;
    ours.sa_flags = SA_RESTART;
    KernelSignalAction made{};
    ::sigaction(SIGUSR2, &ours, &others);
    const bool read = set(SIGUSR2, nullptr, &made);
    ::sigaction(SIGUSR2, &others, nullptr);
    if (!read || !set(signal_that_nobody_blocks, &made, &before_))
      throw Error(fmt::format("cannot reach the threads of this process: {}", std::strerror(errno)));
  }
  ~SignalHandler() { set(signal_that_nobody_blocks, &before_, nullptr); }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

 private:
  static bool set(int signal, const KernelSignalAction* action, KernelSignalAction* before) {
    return ::syscall(SYS_rt_sigaction, signal, action, before, sizeof action->mask) == 0;
  }
  KernelSignalAction before_{};
};

std::set<pid_t> threads_of_this_process() {
  std::set<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  return threads;
}

std::string name_of(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/comm", thread));
  std::string name;
  std::getline(file, name);
  return name;
}

void run_in(pid_t thread) {
  const int before = answers;
  const auto is_gone = [&] { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH; };
  if (::syscall(SYS_tgkill, ::getpid(), thread, signal_that_nobody_blocks) != 0 && errno != ESRCH)
    throw Error(fmt::format("cannot reach the thread '{}': {}", name_of(thread), std::strerror(errno)));
  const auto end = Clock::now() + patience;
  while (answers == before && !is_gone()) {
    if (Clock::now() > end) throw Error(fmt::format("the thread '{}' does not take signals", name_of(thread)));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (problem != 0) throw Error(fmt::format("in the thread '{}': {}", name_of(thread), std::strerror(problem)));
}

}  // namespace

void run_in_other_threads(int (*action)(int), int argument) {
  current_action = action;
  current_argument = argument;
  problem = 0;
  const SignalHandler handler;
  std::set<pid_t> reached{static_cast<pid_t>(::syscall(SYS_gettid))};
  // A thread that was not reached yet may have started another meanwhile: it ends when nobody new is found.
  for (bool found = true; found;) {
    found = false;
    for (const pid_t thread : threads_of_this_process()) {
      if (!reached.insert(thread).second) continue;
      found = true;
      run_in(thread);
    }
  }
}

}  // namespace cudal1
