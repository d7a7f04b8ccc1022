#include "compile/clang_process.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "compile/compiler_child.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_ptx_bytes = std::size_t{64} << 20;
constexpr std::size_t max_log_bytes = std::size_t{64} << 10;

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
  std::vector<std::string> arguments = {run.launcher.string()};
  for (auto& path : readable_paths(run)) arguments.push_back(std::move(path));
  arguments.push_back("--");
  arguments.insert(arguments.end(), run.arguments.begin(), run.arguments.end());
  ChildOptions options = compiler_child(std::move(arguments), run.memory_limit_bytes);
  options.descriptors = {{source, 0}, {ptx, 1}, {log, 2}};
  return options;
}

bool ran_out_of_memory(std::string_view log) {
  return log.find("out of memory") != std::string_view::npos || log.find("bad_alloc") != std::string_view::npos;
}

std::optional<Failure> failure_of(const ClangRun& run, const ChildExit& end, const ClangOutput& output) {
  if (end.exited && end.code == clang_cannot_start)
    return Failure{
        Status::judge_error, "clang cannot work: " + output.log.substr(0, output.log.find('\n')), {}, output.log};
  if (ran_out_of_memory(output.log) && !(end.exited && end.code == 0))
    return out_of_compiler_memory(run.memory_limit_bytes, output.log);
  if (end.exited && (end.code == 0 || end.code == 1)) return std::nullopt;
  return compiler_died(end, run.memory_limit_bytes, output.log);
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
  std::array<CompilerOutput, 2> outputs{
      {{ptx.reader.get(), output.ptx, max_ptx_bytes}, {log.reader.get(), output.log, max_log_bytes, true}}};
  const Reading reading = read_until(outputs, deadline);
  if (reading == Reading::timeout) return stopped_at_time_limit(run.time_limit);
  if (reading == Reading::too_much) return output_too_large(max_ptx_bytes);
  const auto end = child.wait_for(std::chrono::seconds(1)).value_or(ChildExit{false, SIGKILL});
  if (auto reason = failure_of(run, end, output)) return *reason;
  output.succeeded = end.code == 0;
  return output;
}

}  // namespace cudal1
