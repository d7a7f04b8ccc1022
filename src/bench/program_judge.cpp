#include "bench/program_judge.hpp"

#include "base/result.hpp"
#include "dialect/solution_judge.hpp"

namespace cudal1 {
namespace {

ProgramJudge judge_that_refuses(const JudgedTask& judged, const std::string& reason) {
  return [task = judged.task.name, degenerate = judged.task.degenerate, reason](const std::string& name,
                                                                                const std::string&) {
    JudgedProgram result;
    result.evaluation.task = task;
    result.evaluation.program = name;
    result.evaluation.degenerate_task = degenerate;
    result.evaluation.status = Status::unsupported;
    result.evaluation.failure = {Status::unsupported, reason};
    return result;
  };
}

//! By its text: nobody counts what a process of its own launches.
bool makes_kernels(const std::string& text) {
  for (const char* word : {"__global__", "triton.jit", "load_inline", "cpp_extension", "RawKernel", "cute.kernel"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

ProgramJudge judge_of_solutions(const JudgedTask& task, JudgeOptions options) {
  if (task.device == "vgpu")
    return judge_that_refuses(task,
                              "solutions in Python are measured, not predicted: they need a GPU, or --device cpu where "
                              "they need none");
  SolutionTask solved;
  try {
    solved = make_solution_task(task.task, task.module);
  } catch (const Error& problem) {
    return judge_that_refuses(task, problem.what());
  }
  options.measure_time = true;
  const SolutionDevice device = task.device == "cpu" ? solution_device_on_cpu() : solution_device_on(task.backend);
  auto judge = std::make_shared<SolutionJudge>(std::move(solved), device, options);
  return [judge](const std::string& name, const std::string& text) {
    JudgedProgram result;
    result.evaluation = judge->evaluate(name, text);
    result.own_kernels = makes_kernels(text);
    for (const TimedPair& pair : judge->pairs()) result.ratios.push_back(pair.ratio());
    return result;
  };
}

ProgramJudge judge_of_plans(const JudgedTask& task, const JudgeOptions& options) {
  auto judge = std::make_shared<TaskJudge>(*task.backend, task.task, options);
  return [judge, backend = task.backend](const std::string& name, const std::string& text) {
    JudgedProgram result;
    result.compiled = judge->compile(name, text);
    result.evaluation = judge->evaluate(result.compiled);
    result.own_kernels = result.compiled.plan.has_launches();
    return result;
  };
}

}  // namespace

ProgramJudge judge_for(Dialect dialect, const JudgedTask& task, const JudgeOptions& options) {
  return dialect == Dialect::torch ? judge_of_solutions(task, options) : judge_of_plans(task, options);
}

}  // namespace cudal1
