// What became of one program on one task and device. docs/evaluator.md says which fields each status fills.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

//! The part of an output (a row, a column, a channel) that came closest to a budget of its own.
struct SliceError {
  double error = 0.0, budget = 0.0;  //!< 0 of 0: no part has one
  std::int64_t dimension = 0, index = 0;
  bool is_rms = false;  //!< of a part that follows the inputs by little: the root mean square, not the largest
  double share() const;
};

//! The numbers up to a size that came closest to a budget of their own.
struct PartError {
  double error = 0.0, budget = 0.0;  //!< 0 of 0: none has one
  double below = 0.0;                //!< their size
  bool is_rms = false;
  double share() const;
};

//! How an output fared against the fp64 oracle on one input set.
struct OutputError {
  std::string output;
  std::string distribution;
  double max_error = 0.0, max_budget = 0.0;
  double rms_error = 0.0, rms_budget = 0.0;
  SliceError slice;
  PartError part;
  std::int64_t mismatches = 0;  //!< elements that are non-finite where they must not be, or unequal integers
  bool constant = false;        //!< all elements are the same, though the task's vary: however small the error

  //! Largest share of its budget that any error takes; above 1 is a mismatch.
  double margin() const;
  bool matches() const { return mismatches == 0 && !constant && margin() <= 1.0; }
};

//! The outcome of paired timing.
struct TimingSummary {
  double speedup = 0.0;                           //!< of the bucket values: pseudo-median (paper protocol: median)
  double low = 0.0, high = 0.0;                   //!< 95% interval
  double reference_ms = 0.0, candidate_ms = 0.0;  //!< medians
  std::vector<double> bucket_values;
  double bucket_variance = 0.0;  //!< over the squared mean (paper protocol: absolute)
  bool stable = false;
  bool tie = false;       //!< the interval overlaps [0.99, 1.01]
  int pairs = 0;          //!< that count
  int dropped_pairs = 0;  //!< in which the device began before the call was enqueued, though held back
  int processes = 1;      //!< candidate processes that were timed

  //! What a time is made of (judge/nominal_host.hpp): the device's as measured, medians; the host's as counted. Where
  //! the device was not held back, its times hold the host's, and nothing is counted.
  bool device_held = false;
  double reference_device_ms = 0.0, candidate_device_ms = 0.0;
  double reference_enqueue_ms = 0.0, candidate_enqueue_ms = 0.0;
  //! The host needs longer to enqueue a call than the device to run it.
  bool reference_is_launch_bound() const { return reference_enqueue_ms > reference_device_ms; }
  bool candidate_is_launch_bound() const { return candidate_enqueue_ms > candidate_device_ms; }
};

struct Evaluation {
  std::string task, program;     //!< names for people: the task's and the file's
  std::string dialect = "plan";  //!< or "torch": a solution in Python
  Status status = Status::judge_error;
  Failure failure;  //!< what went wrong; message empty when nothing did

  std::optional<double> reward;  //!< speed-up rounded toward 1; only with status ok
  std::optional<TimingSummary> timing;
  std::string profile;                //!< where the candidate's time goes, as JSON; empty where the device does not say
  std::string printed;                //!< by its kernels, with `--debug`
  std::optional<bool> deterministic;  //!< did two runs agree bit for bit
  std::vector<OutputError> errors;    //!< the worst input set of every output

  std::string task_hash, program_hash, plan_hash;
  std::string device, target;  //!< "NVIDIA H200", "sm_90"
  bool predicted = false;      //!< true for devices that model time instead of measuring it
  std::string mode, timing_protocol, precision;
  std::uint64_t seed = 0;
  int launches = 0, op_steps = 0;  //!< steps of a call
  bool degenerate_task = false;    //!< the output does not depend on the inputs
  double compile_seconds = 0.0, seconds = 0.0;
  std::map<std::string, double> stage_seconds;  //!< what these were spent on, as far as it is looked at
  bool compiled_from_cache = false;
  int fresh_process_checks = 0;  //!< how often the result was measured again in a new process
};

//! The stable fields of `eval --json` first, then everything else under "details".
nlohmann::json to_json(const Evaluation& evaluation);

}  // namespace cudal1
