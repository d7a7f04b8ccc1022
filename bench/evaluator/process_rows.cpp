#include <unistd.h>

#include <chrono>

#include "base/files.hpp"
#include "judge/judge.hpp"
#include "judge/timing_statistics.hpp"
#include "rows.hpp"
#include "runner/bubblewrap.hpp"

namespace cudal1::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

//! From the start of a process that only makes a CUDA context to the byte it then writes.
double start_bare_process() {
  int ends[2];
  if (::pipe(ends) != 0) throw Error("cannot make a pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ChildOptions options;
  options.arguments = {(executable_directory() / "bare_cuda_context").string()};
  options.environment = minimal_environment();
  options.descriptors = {{2, 2}, {writer.get(), 3}};
  const auto begin = Clock::now();
  ChildProcess process = ChildProcess::start(options);
  writer.reset();
  char byte = 0;
  if (::read(reader.get(), &byte, 1) != 1) throw Error("the bare process made no context");
  return seconds_since(begin);
}

double start_runner(Backend& backend) {
  const auto begin = Clock::now();
  auto runner = RunnerProcess::start(backend.runner_options());
  if (!runner) throw Error("no runner: " + runner.failure().message);
  return seconds_since(begin);
}

}  // namespace

void start_row(Backend& backend, nlohmann::json& rows) {
  constexpr int starts = 15;
  std::vector<double> bare, runner;
  start_bare_process();
  start_runner(backend);
  for (int i = 0; i < starts; ++i) {
    bare.push_back(start_bare_process());
    runner.push_back(start_runner(backend));
  }
  const double difference = median(runner) - median(bare);
  rows.push_back(row("start of a runner without op steps, more than a bare process that makes a CUDA context",
                     difference, "s", "at most 0.1 s more", difference <= 0.1,
                     {{"bare_s", median(bare)}, {"runner_s", median(runner)}, {"bubblewrap", bubblewrap_works()}}));
}

void hang_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  constexpr double limit_seconds = 1.0;
  const auto task = setting.source_folder / "examples" / "vector_add";
  JudgeOptions options;
  options.mode = JudgeMode::fast;
  options.call_limit_seconds = limit_seconds;
  TaskJudge judge(backend, task, options);
  const CompiledProgram endless = judge.compile("endless", read_file(task / "timeout-endless_loop.cu"));
  const CompiledProgram honest = judge.compile("honest", read_file(task / "ok-naive.cu"));
  double longest = 0.0;
  bool unaffected = true;
  for (int i = 0; i < 5; ++i) {
    judge.evaluate(honest);  // a runner is up, so that its start is not counted
    const Evaluation hung = judge.evaluate(endless);
    longest = std::max(longest, hung.seconds);
    unaffected = unaffected && hung.status == Status::timeout && is_correct(judge.evaluate(honest).status);
  }
  rows.push_back(row("a candidate that hangs, from the start of its evaluation to the verdict (limit 1 s)", longest,
                     "s", "killed within its limit + 1 s, the next evaluation unaffected",
                     longest <= limit_seconds + 1.0 && unaffected, {{"next_evaluation_unaffected", unaffected}}));
}

}  // namespace cudal1::bench
