// cudal1-solution: starts a solution's Python and stays as its parent. Whatever the solution starts and leaves behind
// becomes a child of this process, so that the judge finds it and can end it. Restrictions are the worker's own first
// deed (restrict_library.cpp), since CUDA has to start before them.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/result.hpp"

namespace cudal1 {
namespace {

[[noreturn]] void become_solution(char** command, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::execv(command[0], command);
  std::fprintf(stderr, "cudal1: cannot start %s: %s\n", command[0], std::strerror(errno));
  ::_exit(127);
}

//! Waits for the solution and reaps whatever else ends; returns the solution's wait status.
int wait_for(pid_t solution) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::wait(&status);
    if (ended == solution) return status;
    if (ended < 0 && errno != EINTR) return 0;
  }
}

int launch(char** command) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid(), solution = ::fork();
  if (solution < 0) throw Error(fmt::format("cannot fork: {}", std::strerror(errno)));
  if (solution == 0) become_solution(command, self);
  for (const int descriptor : {3, 4}) ::close(descriptor);  // the solution's end of the conversation is its own
  const int status = wait_for(solution);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace
}  // namespace cudal1

//! cudal1-solution COMMAND ARGUMENT…
int main(int argc, char** argv) try {
  if (argc < 2) throw cudal1::Error("no command");
  return cudal1::launch(argv + 1);
} catch (const std::exception& error) {
  std::fprintf(stderr, "cudal1: %s\n", error.what());
  return 127;
}
