// cudal1-solution: starts a solution's Python, stays as its parent and watches what memory it takes. Whatever the
// solution starts and leaves behind becomes a child of this process, so that the judge finds it and can end it.
// Restrictions are the worker's own first
// deed (restrict_library.cpp), since CUDA has to start before them.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/result.hpp"
#include "dialect/memory_guard.hpp"

namespace cudal1 {
namespace {

constexpr timespec between_looks{0, 50'000'000};

sigset_t end_of_children() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  return signals;
}

//! Where memory ends faster than anybody looks, the kernel ends the solution, not the judge.
void be_the_first_to_go() {
  std::FILE* score = std::fopen("/proc/self/oom_score_adj", "w");
  if (!score) return;
  std::fputs("1000", score);
  std::fclose(score);
}

[[noreturn]] void become_solution(char** command, pid_t parent, const sigset_t& signals) {
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  be_the_first_to_go();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::execv(command[0], command);
  std::fprintf(stderr, "cudal1: cannot start %s: %s\n", command[0], std::strerror(errno));
  ::_exit(127);
}

//! Reaps whatever has ended; the solution's wait status, if it is among them.
std::optional<int> reap(pid_t solution) {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (ended == solution) return status;
  return std::nullopt;
}

//! Until the solution has ended, or has to. The exit code of this process.
int watch_over(pid_t solution, std::uint64_t memory_bytes, const sigset_t& signals) {
  const ProcessWatch family(::getpid());
  MemoryGuard guard(solution, memory_bytes);
  for (;;) {
    if (const auto status = reap(solution)) return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    if (const auto verdict = guard.look(family)) {
      family.kill_descendants();
      return static_cast<int>(*verdict);
    }
    ::sigtimedwait(&signals, nullptr, &between_looks);
  }
}

int launch(std::uint64_t memory_bytes, char** command) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t signals = end_of_children();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const pid_t self = ::getpid(), solution = ::fork();
  if (solution < 0) throw Error(fmt::format("cannot fork: {}", std::strerror(errno)));
  if (solution == 0) become_solution(command, self, signals);
  for (const int descriptor : {3, 4}) ::close(descriptor);  // the solution's end of the conversation is its own
  return watch_over(solution, memory_bytes, signals);
}

}  // namespace
}  // namespace cudal1

//! cudal1-solution BYTES COMMAND ARGUMENT…
int main(int argc, char** argv) try {
  if (argc < 3) throw cudal1::Error("no command");
  return cudal1::launch(std::strtoull(argv[1], nullptr, 10), argv + 2);
} catch (const std::exception& error) {
  std::fprintf(stderr, "cudal1: %s\n", error.what());
  return 127;
}
