#include <algorithm>
#include <limits>

#include "base/value_or_throw.hpp"
#include "graph/executor.hpp"
#include "judge/judge.hpp"
#include "judge/nominal_host.hpp"
#include "judge/task_context.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int calls = 150;
constexpr double calmest_share = 0.05;  // of the calls; on a shared machine the others say more about the neighbours
constexpr std::chrono::milliseconds call_limit{60000};

double calmest_enqueue_ms(TaskContext& context, const CompiledProgram& compiled, const ExampleProgram& program,
                          Random& random) {
  PlanSession& session = context.candidate();
  value_or_throw(session.load(compiled.plan, compiled.module, context.flags()), program.file);
  const TensorTable constants = context.draw_constants(random.next(), false);
  value_or_throw(session.set_constants(constants, call_limit), program.file);
  std::vector<double> enqueue_ms;
  for (int i = 0; i < calls; ++i) {
    const TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
    enqueue_ms.push_back(
        value_or_throw(session.call(leaves, Poison::not_a_number, call_limit, true), program.file).enqueue_ms);
  }
  std::sort(enqueue_ms.begin(), enqueue_ms.end());
  return enqueue_ms[static_cast<std::size_t>(calmest_share * calls)];
}

bool is_wanted(const ExampleProgram& program) {
  const auto named = [&](const char* part) { return program.file.find(part) != std::string::npos; };
  return program.wanted_status == "ok" && (named("empty") || named("naive") || named("graph"));
}

}  // namespace

// Is the nominal host as fast as this one at its calmest? If it were slower, launch-bound calls would look slower than
// they are.
void host_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  Random random(secret_seed());
  std::unique_ptr<TaskContext> context;
  std::filesystem::path current;
  double smallest = std::numeric_limits<double>::infinity();
  nlohmann::json details = nlohmann::json::array();
  for (const ExampleProgram& program : programs_below(setting.source_folder / "examples")) {
    if (!is_wanted(program)) continue;
    if (program.task != current) {
      Task task = load_task(current = program.task);
      infer_metas(task);
      context.reset();
      context = std::make_unique<TaskContext>(backend, std::move(task), PrecisionPolicy::standard, random.next());
    }
    const CompiledProgram compiled = compile_program(context->task().graph, backend, program.file, program.text);
    if (compiled.failure) throw Error(program.file + ": " + compiled.failure->message);
    const double measured = calmest_enqueue_ms(*context, compiled, program, random);
    const double nominal = nominal_enqueue_ms(compiled.plan);
    smallest = std::min(smallest, measured / nominal);
    details.push_back({{"task", program.task.filename().string()},
                       {"program", program.file},
                       {"measured_us", 1e3 * measured},
                       {"nominal_us", 1e3 * nominal}});
  }
  rows.push_back(row("time to enqueue an example, at its calmest, over the nominal host's; the smallest", smallest, "x",
                     "at least 1", smallest >= 1.0, details));
}

}  // namespace cudal1::bench
