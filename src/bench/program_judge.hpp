// Programs of different dialects, judged alike.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "judge/judge.hpp"

namespace cudal1 {

enum class Dialect {
  plan,   //!< CUDA with directives (docs/program.md)
  torch,  //!< Python with ModelNew, as KernelBench's solutions are
};

Dialect dialect_of(const std::filesystem::path& file);

struct JudgedTask {
  Backend& backend;
  const Task& task;
  std::filesystem::path module;  //!< that it was made from; empty: a native task
};

struct JudgedProgram {
  Evaluation evaluation;
  CompiledProgram compiled;  //!< of the plan dialect
};

//! A program text for this task -> what became of it. `options.measure_time`: only where times are predicted.
using ProgramJudge = std::function<JudgedProgram(const std::string& name, const std::string& text)>;
ProgramJudge judge_for(Dialect dialect, const JudgedTask& task, const JudgeOptions& options);

}  // namespace cudal1
