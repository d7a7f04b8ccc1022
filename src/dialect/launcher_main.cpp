// cudal1-solution: starts a solution's Python under restrictions and stays as its parent. Whatever the solution starts
// and leaves behind becomes a child of this process, so that the judge finds it and can end it.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sandbox.hpp"

namespace cudal1 {
namespace {

struct LaunchOptions {
  SandboxPolicy policy;
  bool walled = false;  //!< in a file system of its own already
  std::vector<char*> command;
};

LaunchOptions parse(int argc, char** argv) {
  LaunchOptions options;
  options.policy.allow_exec = options.policy.allow_processes = true;
  options.policy.readable = {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/opt"};
  options.policy.writable = {"/dev/null"};
  int next = 1;
  for (; next < argc && std::string_view(argv[next]) != "--"; ++next) {
    const std::string_view name = argv[next];
    if (name == "--walled") {
      options.walled = true;
      continue;
    }
    if (++next >= argc) throw Error("an option lacks its value");
    if (name == "--readable") options.policy.readable.emplace_back(argv[next]);
    if (name == "--writable") options.policy.writable.emplace_back(argv[next]);
    if (name == "--scratch") options.policy.scratch.emplace_back(argv[next]);
  }
  for (++next; next < argc; ++next) options.command.push_back(argv[next]);
  if (options.command.empty()) throw Error("no command");
  options.command.push_back(nullptr);
  return options;
}

[[noreturn]] void become_solution(const LaunchOptions& options, pid_t parent) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  if (landlock_abi() == 0 && !options.walled)
    throw Error("solutions in Python need Landlock (Linux 5.13) or a bubblewrap that works, to be kept from files");
  restrict_this_process(options.policy);
  ::execv(options.command.front(), options.command.data());
  throw Error(fmt::format("cannot start {}: {}", options.command.front(), std::strerror(errno)));
} catch (const std::exception& error) {
  std::fprintf(stderr, "cudal1: %s\n", error.what());
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

int launch(int argc, char** argv) {
  const LaunchOptions options = parse(argc, argv);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid(), solution = ::fork();
  if (solution < 0) throw Error(fmt::format("cannot fork: {}", std::strerror(errno)));
  if (solution == 0) become_solution(options, self);
  for (const int descriptor : {3, 4}) ::close(descriptor);  // the solution's end of the conversation is its own
  const int status = wait_for(solution);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) try { return cudal1::launch(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "cudal1: %s\n", error.what());
  return 127;
}
