// What `eval` does once judge and archive stand. Apart from them, so that it needs no GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

struct EvalLoop {
  std::vector<std::string> programs;                        //!< their names
  std::function<Evaluation(double best_known)> judge_next;  //!< in the order of `programs`
  std::string why_no_archive;                               //!< where there should be one and it cannot be opened
  // The archive. What these throw costs the record, not the evaluation.
  std::function<double()> best_known = [] { return 0.0; };
  std::function<void(std::size_t program, const Evaluation&)> record = [](std::size_t, const Evaluation&) {};
};

struct EvalOutput {
  std::string device;  //!< its name for people
  bool as_json = false;
  bool verbose = false;
  bool profile_report = false;
};

//! Judges every program and prints each evaluation as soon as it is known, as JSON all of them in the end; returns the
//! exit code: 1 when the judge failed, or the archive. The archive's first error is reported on standard error, its
//! later ones are not.
int run_eval_loop(const EvalLoop& loop, const EvalOutput& output);

}  // namespace cudal1
