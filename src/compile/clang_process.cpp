#include "compile/clang_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "base/child_process.hpp"
#include "base/files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_ptx_bytes = std::size_t{64} << 20;
constexpr std::size_t max_log_bytes = std::size_t{64} << 10;

// The address sanitizer reserves terabytes of addresses, so its builds cannot limit them.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool addresses_can_be_limited = false;
#else
constexpr bool addresses_can_be_limited = true;
#endif

Failure failure(Status status, std::string message, std::string details = {}) {
  return {status, std::move(message), {}, std::move(details)};
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::strerror(errno));
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  UniqueFd reader, writer;
};

enum class Reading { finished, timeout, too_much };

//! Takes what is there. The log is cut at its limit and read on, so that clang does not wait; more PTX is an answer.
bool read_some(pollfd& waiting, std::string& bytes, std::size_t keep) {
  char chunk[1 << 16];
  const ssize_t got = ::read(waiting.fd, chunk, sizeof chunk);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) waiting.fd = -1;  // poll passes over it from now on
  if (got > 0) bytes.append(chunk, std::min(static_cast<std::size_t>(got), keep - std::min(keep, bytes.size())));
  return got > 0;
}

Reading read_both(int ptx_pipe, int log_pipe, Clock::time_point deadline, ClangOutput& output) {
  std::array<pollfd, 2> waiting = {pollfd{ptx_pipe, POLLIN, 0}, pollfd{log_pipe, POLLIN, 0}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Reading::timeout;
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000))) <= 0) continue;
    if (waiting[0].revents) read_some(waiting[0], output.ptx, max_ptx_bytes + 1);
    if (waiting[1].revents) read_some(waiting[1], output.log, max_log_bytes);
    if (output.ptx.size() > max_ptx_bytes) return Reading::too_much;
  }
  return Reading::finished;
}

//! The system's libraries, which clang is linked with, and clang's own folder.
std::vector<std::string> readable_paths(const ClangRun& run) {
  std::vector<std::string> paths = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null"};
  std::error_code error;
  const fs::path clang = fs::canonical(run.arguments.at(0), error);
  if (!error)
    paths.push_back(clang.parent_path() == "/usr/bin" ? clang.string() : clang.parent_path().parent_path().string());
  for (const auto& path : run.readable) paths.push_back(path.string());
  return paths;
}

ChildOptions child_options(const ClangRun& run, int source, int ptx, int log) {
  ChildOptions options;
  options.arguments = {run.launcher.string()};
  for (auto& path : readable_paths(run)) options.arguments.push_back(std::move(path));
  options.arguments.push_back("--");
  options.arguments.insert(options.arguments.end(), run.arguments.begin(), run.arguments.end());
  options.environment = {{"LANG", "C"}, {"PATH", "/usr/bin:/bin"}};
  options.descriptors = {{source, 0}, {ptx, 1}, {log, 2}};
  if (addresses_can_be_limited) options.limits.address_space_bytes = run.memory_limit_bytes;
  return options;
}

std::string how_it_ended(const ChildExit& end) {
  if (end.exited) return fmt::format("ended with exit code {}", end.code);
  return fmt::format("crashed ({})", ::strsignal(end.code));
}

bool ran_out_of_memory(std::string_view log) {
  return log.find("out of memory") != std::string_view::npos || log.find("bad_alloc") != std::string_view::npos;
}

std::optional<Failure> failure_of(const ClangRun& run, const ChildExit& end, const ClangOutput& output) {
  if (end.exited && end.code == clang_cannot_start)
    return failure(Status::judge_error, "clang cannot work: " + output.log.substr(0, output.log.find('\n')),
                   output.log);
  if (ran_out_of_memory(output.log) && !(end.exited && end.code == 0))
    return failure(Status::compile_timeout,
                   fmt::format("the compiler ran out of its {} of memory", megabytes(run.memory_limit_bytes)),
                   output.log);
  if (end.exited && (end.code == 0 || end.code == 1)) return std::nullopt;
  return failure(Status::compile_timeout,
                 fmt::format("the compiler {}, with memory limited to {}; simplify the source", how_it_ended(end),
                             megabytes(run.memory_limit_bytes)),
                 output.log);
}

}  // namespace

Result<ClangOutput> run_clang(const ClangRun& run) {
  Pipe ptx, log;
  const UniqueFd source = make_sealed_memory("cuda-source", run.source);
  ::lseek(source.get(), 0, SEEK_SET);  // clang reads on from where we stopped writing
  const auto deadline = Clock::now() + run.time_limit;
  ChildProcess child = ChildProcess::start(child_options(run, source.get(), ptx.writer.get(), log.writer.get()));
  ptx.writer.reset();
  log.writer.reset();

  ClangOutput output;
  const Reading reading = read_both(ptx.reader.get(), log.reader.get(), deadline, output);
  if (reading == Reading::timeout)
    return failure(Status::compile_timeout, fmt::format("the compiler was stopped at its time limit of {} s",
                                                        static_cast<double>(run.time_limit.count()) / 1000.0));
  if (reading == Reading::too_much)
    return failure(Status::compile_timeout,
                   fmt::format("the compiler's output is larger than its limit of {}", megabytes(max_ptx_bytes)));
  const auto end = child.wait_for(std::chrono::seconds(1)).value_or(ChildExit{false, SIGKILL});
  if (auto reason = failure_of(run, end, output)) return *reason;
  output.succeeded = end.code == 0;
  return output;
}

}  // namespace cudal1
