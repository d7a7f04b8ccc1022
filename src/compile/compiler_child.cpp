#include "compile/compiler_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

//! Takes what is there; at the end of a pipe, poll passes over it from then on.
void read_some(CompilerOutput& output, pollfd& waiting) {
  char chunk[1 << 16];
  const ssize_t got = ::read(waiting.fd, chunk, sizeof chunk);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    waiting.fd = -1;
    return;
  }
  const std::size_t keep = output.most_bytes + (output.cut ? 0 : 1);  // one more shows that it is too much
  output.bytes.append(chunk, std::min(static_cast<std::size_t>(got), keep - std::min(keep, output.bytes.size())));
}

std::string how_it_ended(const ChildExit& end) {
  if (end.exited) return fmt::format("ended with exit code {}", end.code);
  return fmt::format("crashed ({})", ::strsignal(end.code));
}

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::strerror(errno));
  reader.reset(ends[0]);
  writer.reset(ends[1]);
}

Reading read_until(std::span<CompilerOutput> outputs, Clock::time_point deadline) {
  std::vector<pollfd> waiting;
  for (const CompilerOutput& output : outputs) waiting.push_back({output.pipe, POLLIN, 0});
  const auto open = [](const pollfd& pipe) { return pipe.fd >= 0; };
  while (std::any_of(waiting.begin(), waiting.end(), open)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Reading::timeout;
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000))) <= 0) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (waiting[i].revents != 0) read_some(outputs[i], waiting[i]);
      if (outputs[i].bytes.size() > outputs[i].most_bytes) return Reading::too_much;
    }
  }
  return Reading::finished;
}

ChildOptions compiler_child(std::vector<std::string> arguments, std::uint64_t memory_limit_bytes) {
  ChildOptions options;
  options.arguments = std::move(arguments);
  options.environment = {{"LANG", "C"}, {"PATH", "/usr/bin:/bin"}};
  if (addresses_can_be_limited) options.limits.address_space_bytes = memory_limit_bytes;
  return options;
}

Failure stopped_at_time_limit(std::chrono::milliseconds limit) {
  return {Status::compile_timeout, fmt::format("the compiler was stopped at its time limit of {} s",
                                               static_cast<double>(limit.count()) / 1000.0)};
}

Failure output_too_large(std::size_t limit_bytes) {
  return {Status::compile_timeout,
          fmt::format("the compiler's output is larger than its limit of {}", megabytes(limit_bytes))};
}

Failure out_of_compiler_memory(std::uint64_t limit_bytes, std::string log) {
  return {Status::compile_timeout,
          fmt::format("the compiler ran out of its {} of memory", megabytes(limit_bytes)),
          {},
          std::move(log)};
}

Failure compiler_died(const ChildExit& end, std::uint64_t memory_limit_bytes, std::string log) {
  return {Status::compile_timeout,
          fmt::format("the compiler {}, with memory limited to {}; simplify the source", how_it_ended(end),
                      megabytes(memory_limit_bytes)),
          {},
          std::move(log)};
}

}  // namespace cudal1
