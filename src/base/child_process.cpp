#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

extern char** environ;

namespace cudal1 {
namespace {

void set_limit(__rlimit_resource resource, std::uint64_t value) {
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

// Runs between fork and exec: only async-signal-safe calls below.
[[noreturn]] void become_child(const ChildOptions& options, char* const* argv, char* const* envp, pid_t parent,
                               int* sources, int error_pipe) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  // Move our descriptors out of the way first, so that dup2 never overwrites one that is still needed.
  int highest = 2;
  for (const auto& [ours, theirs] : options.descriptors) highest = std::max({highest, ours, theirs});
  const int safe_error_pipe = ::fcntl(error_pipe, F_DUPFD_CLOEXEC, highest + 1);
  for (std::size_t i = 0; i < options.descriptors.size(); ++i)
    sources[i] = ::fcntl(options.descriptors[i].first, F_DUPFD_CLOEXEC, highest + 1);
  int last_kept = 2;
  for (std::size_t i = 0; i < options.descriptors.size(); ++i) {
    ::dup2(sources[i], options.descriptors[i].second);
    last_kept = std::max(last_kept, options.descriptors[i].second);
  }
  ::syscall(SYS_close_range, last_kept + 1, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  if (options.limits.address_space_bytes) set_limit(RLIMIT_AS, options.limits.address_space_bytes);
  if (options.limits.data_bytes) set_limit(RLIMIT_DATA, options.limits.data_bytes);
  if (options.limits.cpu_seconds) set_limit(RLIMIT_CPU, options.limits.cpu_seconds);
  if (options.limits.file_bytes != UINT64_MAX) set_limit(RLIMIT_FSIZE, options.limits.file_bytes);
  set_limit(RLIMIT_CORE, 0);
  ::execve(argv[0], argv, envp);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(safe_error_pipe, &reason, sizeof reason);
  ::_exit(127);
}

ChildExit decode(int status) {
  if (WIFEXITED(status)) return {true, WEXITSTATUS(status)};
  return {false, WTERMSIG(status)};
}

//! The wait status of a child that somebody else keeps. Nothing: it has not come yet, or its keeper has gone.
std::optional<int> status_from(int keeper, bool wait) {
  char text[16] = {};
  ssize_t count = -1;
  do count = ::recv(keeper, text, sizeof text - 1, wait ? 0 : MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  return count > 0 ? std::atoi(text) : SIGKILL;  // with its keeper everything has gone
}

void wait_until_readable(int descriptor, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto left = [&] {
    const auto time = deadline - std::chrono::steady_clock::now();
    return std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  };
  pollfd waiting{descriptor, POLLIN, 0};
  while (descriptor >= 0 && ::poll(&waiting, 1, static_cast<int>(left())) < 0 && errno == EINTR) {
  }
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

ChildProcess ChildProcess::start(const ChildOptions& options) {
  std::vector<std::string> arguments = options.arguments, variables;
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
  std::vector<int> sources(options.descriptors.size());
  int error_pipe[2];
  if (::pipe2(error_pipe, O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  UniqueFd reader(error_pipe[0]), writer(error_pipe[1]);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(fmt::format("cannot start {}: {}", arguments[0], std::strerror(errno)));
  if (pid == 0) become_child(options, argv.data(), envp.data(), parent, sources.data(), writer.get());

  ::setpgid(pid, pid);  // also here, so that kill() right after start reaches the group
  writer.reset();
  ChildProcess child;
  child.pid_ = pid;
  int reason = 0;
  if (::read(reader.get(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    child.kill();
    throw Error(fmt::format("cannot start {}: {}", arguments[0], std::strerror(reason)));
  }
  return child;
}

ChildProcess ChildProcess::kept_by(UniqueFd keeper, pid_t pid) {
  ChildProcess child;
  child.pid_ = pid;
  child.keeper_ = std::move(keeper);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      keeper_(std::move(other.keeper_)),
      exit_(std::exchange(other.exit_, std::nullopt)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  if (pid_ > 0) kill();
  pid_ = std::exchange(other.pid_, -1);
  keeper_ = std::move(other.keeper_);
  exit_ = std::exchange(other.exit_, std::nullopt);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) kill();
}

bool ChildProcess::running() { return pid_ > 0 && !wait_for(std::chrono::milliseconds(0)); }

std::optional<ChildExit> ChildProcess::reap(bool wait) {
  if (keeper_) {
    if (const auto status = status_from(keeper_.get(), wait)) exit_ = decode(*status);
    return exit_;
  }
  int status = 0;
  pid_t reaped = -1;
  do reaped = ::waitpid(pid_, &status, wait ? 0 : WNOHANG);
  while (reaped < 0 && errno == EINTR);
  if (reaped == pid_) exit_ = decode(status);
  return exit_;
}

std::optional<ChildExit> ChildProcess::wait_for(std::chrono::milliseconds limit) {
  if (exit_) return exit_;
  if (pid_ <= 0) return std::nullopt;
  const UniqueFd process(keeper_ ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (limit.count() > 0) wait_until_readable(keeper_ ? keeper_.get() : process.get(), limit);
  return reap(false);
}

ChildExit ChildProcess::kill() {
  if (pid_ <= 0) return exit_.value_or(ChildExit{});
  ::kill(-pid_, SIGKILL);  // also when the child itself is gone: what it started may live on in its group
  if (!exit_) {
    ::kill(pid_, SIGKILL);
    reap(true);
  }
  pid_ = -1;
  keeper_.reset();
  return exit_.value_or(ChildExit{false, SIGKILL});
}

void ChildProcess::pause() const {
  if (pid_ > 0) ::kill(-pid_, SIGSTOP);
}

void ChildProcess::end() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

void ChildProcess::resume() const {
  if (pid_ > 0) ::kill(-pid_, SIGCONT);
}

std::vector<std::pair<std::string, std::string>> minimal_environment() {
  std::vector<std::pair<std::string, std::string>> kept;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    const bool wanted = name == "PATH" || name == "HOME" || name == "LANG" || name == "LD_LIBRARY_PATH" ||
                        name == "TMPDIR" || name.starts_with("CUDA_") || name.starts_with("NVIDIA_") ||
                        name == "OMP_NUM_THREADS" || name.starts_with("CUDAL1_");
    if (wanted) kept.emplace_back(name, text.substr(equals + 1));
  }
  return kept;
}

}  // namespace cudal1
