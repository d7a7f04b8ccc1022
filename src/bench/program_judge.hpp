// Programs of different dialects, judged alike.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/judge.hpp"

namespace cudal1 {

enum class Dialect {
  plan,   //!< CUDA with directives (docs/program.md)
  torch,  //!< Python with ModelNew, as KernelBench's solutions are
};

struct JudgedTask {
  std::shared_ptr<Backend> backend;
  const Task& task;
  std::filesystem::path module;  //!< that it was made from; empty: a native task
  std::string device;            //!< as in PreparationRequest
};

struct JudgedProgram {
  Evaluation evaluation;
  CompiledProgram compiled;    //!< of the plan dialect
  bool own_kernels = false;    //!< of the torch dialect: its text makes some
  std::vector<double> ratios;  //!< of the torch dialect: eager's time over its own, pair by pair
};

//! A program text for this task -> what became of it. `options.measure_time`: plans, only where times are predicted;
//! solutions in Python are always timed here, since no process of ours may load them. Throws Error when the task cannot
//! be judged.
using ProgramJudge = std::function<JudgedProgram(const std::string& name, const std::string& text)>;
ProgramJudge judge_for(Dialect dialect, const JudgedTask& task, const JudgeOptions& options);

}  // namespace cudal1
