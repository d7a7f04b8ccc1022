// One optimisation: a policy proposes programs, a judge judges them, and the best is kept.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"
#include "policy/search/search_policy.hpp"

namespace cudal1 {

struct OptimizeLimits {
  int evaluations = 20;
  double seconds = std::numeric_limits<double>::infinity();
};

//! A program and what became of it.
struct JudgedProgram {
  std::string text;
  Evaluation evaluation;
};

struct OptimizeProgress {
  int judged = 0, of = 0;
  double best = 0.0;  //!< reward; 0: none yet
  double seconds = 0.0;
  const JudgedProgram* last = nullptr;
};

//! Who does the work.
struct OptimizeParts {
  //! Nothing: there is nothing new to try.
  std::function<std::optional<std::string>(const std::vector<ScoredProgram>& seen)> propose;
  //! Begins to compile; judged in the order of these calls.
  std::function<void(const std::string& text)> start;
  std::function<Evaluation(double best_known)> finish;
  std::function<void(const JudgedProgram&)> record = [](const JudgedProgram&) {};
  std::function<void(const OptimizeProgress&)> progress = [](const OptimizeProgress&) {};
  //! Asked between evaluations. What was judged while somebody asked to stop is not believed.
  std::function<bool()> stop = [] { return false; };
};

struct OptimizeResult {
  std::optional<JudgedProgram> best;  //!< nothing: no program was right
  std::vector<JudgedProgram> judged;
  double seconds = 0.0;
  bool stopped = false;
  bool exhausted = false;  //!< the policy had nothing more to propose
};

//! `known`: programs that were judged before; they are not judged again.
OptimizeResult optimize(const OptimizeParts& parts, const OptimizeLimits& limits, std::vector<ScoredProgram> known);

}  // namespace cudal1
