#include "bench/program_judge.hpp"

#include <memory>

namespace cudal1 {
namespace {

JudgedProgram not_judged_here(const JudgedTask& judged, const std::string& name, const std::string& text) {
  JudgedProgram result;
  result.compiled.name = name;
  result.compiled.text = text;
  result.evaluation.task = judged.task.name;
  result.evaluation.program = name;
  result.evaluation.status = Status::unsupported;
  result.evaluation.failure = {Status::unsupported,
                               "solutions in Python are not measured by bench yet; see cudal1 eval"};
  return result;
}

}  // namespace

Dialect dialect_of(const std::filesystem::path& file) {
  return file.extension() == ".py" ? Dialect::torch : Dialect::plan;
}

ProgramJudge judge_for(Dialect dialect, const JudgedTask& task, const JudgeOptions& options) {
  if (dialect == Dialect::torch)
    return [task](const std::string& name, const std::string& text) { return not_judged_here(task, name, text); };
  auto judge = std::make_shared<TaskJudge>(task.backend, task.task, options);
  return [judge](const std::string& name, const std::string& text) {
    JudgedProgram result;
    result.compiled = judge->compile(name, text);
    result.evaluation = judge->evaluate(result.compiled);
    return result;
  };
}

}  // namespace cudal1
