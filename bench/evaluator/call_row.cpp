#include <algorithm>
#include <utility>

#include "base/stage_seconds.hpp"
#include "base/value_or_throw.hpp"
#include "device/cuda/driver.hpp"
#include "graph/executor.hpp"
#include "judge/judge.hpp"
#include "judge/task_context.hpp"
#include "judge/timing_statistics.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int calls = 200;
constexpr std::chrono::milliseconds call_limit{60000};

struct CallPieces {
  double place_ms = 0.0, run_ms = 0.0, device_ms = 0.0, enqueue_ms = 0.0;
  double all_ms() const { return place_ms + run_ms; }
};

CallPieces pieces_of(TaskContext& context, const CompiledProgram& compiled, const std::string& name, Random& random) {
  PlanSession& session = context.candidate();
  value_or_throw(session.load(compiled.plan, compiled.module, context.flags()), name);
  const TensorTable constants = context.draw_constants(random.next(), false);
  value_or_throw(session.set_constants(constants, call_limit), name);
  const TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
  value_or_throw(session.call(leaves, Poison::not_a_number, call_limit, true), name);  // loads kernels
  context.spent().take();
  std::vector<double> device_ms, enqueue_ms;
  for (int i = 0; i < calls; ++i) {
    const CallTimes times = value_or_throw(session.call(leaves, Poison::not_a_number, call_limit, true), name);
    device_ms.push_back(times.device_ms);
    enqueue_ms.push_back(times.enqueue_ms);
  }
  std::map<std::string, double> seconds = context.spent().take();
  return {1e3 * seconds["place"] / calls, 1e3 * seconds["run"] / calls, median(device_ms), median(enqueue_ms)};
}

//! One of the things that follow every call.
double reset_persisting_lines_ms() {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    cuda::check(cuda::driver().cuCtxResetPersistingL2Cache(), "reset the persisting cache");
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / calls;
}

bool is_wanted(const ExampleProgram& program) {
  return program.task.filename() == "row_softmax" &&
         (program.file.find("ok-empty") != std::string::npos || program.file.find("ok-fast") != std::string::npos);
}

}  // namespace

// A search makes some thirty timed calls a program, with the GPU to itself: what they take besides the device's own time
// bounds how many programs can be judged.
void call_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  Random random(secret_seed());
  double longest_ms = 0.0;
  nlohmann::json details{{"reset of persisting lines, ms", reset_persisting_lines_ms()}};
  for (const ExampleProgram& program : programs_below(setting.source_folder / "examples")) {
    if (!is_wanted(program)) continue;
    Task task = load_task(program.task);
    infer_metas(task);
    TaskContext context(backend, std::move(task), PrecisionPolicy::standard, random.next());
    const CompiledProgram compiled = compile_program(context.task().graph, backend, program.file, program.text);
    if (compiled.failure) throw Error(program.file + ": " + compiled.failure->message);
    const CallPieces pieces = pieces_of(context, compiled, program.file, random);
    longest_ms = std::max(longest_ms, pieces.all_ms());
    details[program.file] = {{"place_ms", pieces.place_ms},
                             {"run_ms", pieces.run_ms},
                             {"device_ms", pieces.device_ms},
                             {"enqueue_ms", pieces.enqueue_ms}};
  }
  rows.push_back(row("a timed call of row_softmax with all that the judge does around it, the longer of two programs",
                     longest_ms, "ms", "none", true, details));
}

}  // namespace cudal1::bench
