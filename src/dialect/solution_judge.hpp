// A solution's text goes in, an Evaluation like any other comes out (docs/dialect.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dialect/solution_device.hpp"
#include "dialect/solution_task.hpp"
#include "judge/evaluation.hpp"
#include "judge/judge.hpp"

namespace cudal1 {

//! One task, ready to judge solutions of the torch dialect for it. Not thread-safe.
class SolutionJudge {
 public:
  //! Throws Error when the reference does not run. Of the options, those about the virtual GPU and profiles do nothing.
  SolutionJudge(SolutionTask task, SolutionDevice device, const JudgeOptions& options);
  ~SolutionJudge();

  const std::string& name() const;
  const std::string& hash() const;
  const std::string& source_text() const;

  //! `best_known`: the best speed-up on record for this task and GPU, 0 if there is none.
  Evaluation evaluate(const std::string& name, const std::string& text, double best_known = 0.0);
  //! The calls that the last evaluation's times come from: eager PyTorch and the solution on the same inputs.
  const std::vector<TimedPair>& pairs() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudal1
