#include "judge/profiler.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/value_or_throw.hpp"
#include "judge/backend_profile.hpp"
#include "judge/judge_errors.hpp"

namespace cudal1 {
namespace {

constexpr int warm_calls = 2, timed_calls = 9;
constexpr std::chrono::milliseconds counting_limit{120'000};

PlanSession& loaded_session(const ProfileJob& job) {
  PlanSession& session = job.context.candidate();
  if (!session.has_runner())
    value_or_throw(session.load(job.program.plan, job.program.module, job.context.flags()), "load");
  session.use_process(0);
  session.hold_device(true);
  value_or_throw(session.set_constants(job.constants, job.call_limit), "prepare");
  return session;
}

//! Of calls in which the device was held back; of all where it never was.
std::vector<StepTimes> chosen_times(const std::vector<CallTimes>& calls, std::vector<std::string>& notes) {
  std::vector<StepTimes> held, all;
  for (const CallTimes& call : calls) {
    if (call.gate == Gate::held) held.push_back(call.steps);
    all.push_back(call.steps);
  }
  if (!held.empty()) return held;
  notes.emplace_back(
      "the device could not be held back until a call was enqueued: times hold what it waited for the "
      "host");
  return all;
}

std::vector<CallTimes> timed_steps(const ProfileJob& job, Random& random) {
  PlanSession& session = loaded_session(job);
  std::vector<CallTimes> calls;
  for (int i = 0; i < warm_calls + timed_calls; ++i) {
    const TensorTable leaves = job.context.with_inputs(job.constants, Distribution::native, random.next());
    calls.push_back(value_or_throw(session.time_steps(leaves, job.call_limit), "call"));
  }
  return {calls.begin() + warm_calls, calls.end()};
}

vgpu::ProfileReport counted_steps(const ProfileJob& job, Backend& counter, Random& random) {
  // It has been judged: whatever precision that was under, this one allows no less.
  CompiledProgram program =
      compile_program(job.context.task().graph, counter, job.program.name, job.program.text, Precision::paper);
  if (program.failure) throw Error(program.failure->message);
  program.plan.cuda_graph = false;  // as the steps were timed
  program.plan.branches.clear();
  PlanSession session(counter, random.next());
  const TensorTable leaves = job.context.with_inputs(job.constants, Distribution::native, random.next());
  value_or_throw(session.load(program.plan, program.module, job.context.flags()), "load");
  value_or_throw(session.set_constants(leaves, counting_limit), "prepare");
  const auto called = value_or_throw(session.call(leaves, Poison::not_a_number, counting_limit, false), "call");
  return vgpu::report_from_json(called.profile);
}

}  // namespace

vgpu::ProfileReport time_steps(const ProfileJob& job, Random& random) {
  vgpu::ProfileReport report;
  std::vector<std::string> notes;
  try {
    const auto calls = timed_steps(job, random);
    report = measured_profile(job.program.plan, chosen_times(calls, notes), job.backend.info());
    if (job.program.plan.cuda_graph)
      notes.emplace_back("steps were timed one by one, outside the program's CUDA Graph");
  } catch (const std::exception& error) {
    job.context.candidate().discard_runner();
    report.gpu = job.backend.info().name;
    report.predicted = false;
    notes.push_back(fmt::format("steps were not timed: {}", first_line(error.what())));
  }
  report.notes = notes;
  return report;
}

void count_steps(const ProfileJob& job, const MakeCountingBackend& make_backend, Random& random,
                 vgpu::ProfileReport& report) {
  if (!make_backend || report.rows.empty()) return;
  try {
    const vgpu::MatchingProfile profile = profile_of(job.backend);
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "gpu.json").string();
    write_file_atomically(file, profile.text);
    const std::unique_ptr<Backend> counter = make_backend(file);
    add_counts(report, counted_steps(job, *counter, random), vgpu::parse_profile(profile.text, file));
    report.notes.push_back(fmt::format("counted with the profile {}", profile.origin));
  } catch (const std::exception& error) {
    report.notes.push_back(fmt::format("not counted: {}", first_line(error.what())));
  }
}

}  // namespace cudal1
