// How fast is it? Reference and candidate in pairs on the same inputs, until the interval is narrow.
#pragma once

#include <functional>
#include <optional>

#include "judge/timing_statistics.hpp"
#include "judge/verification.hpp"

namespace cudal1 {

struct MeasurementOptions {
  TimingProtocol protocol = TimingProtocol::standard;
  double wanted_half_width = 0.03;  //!< of the 95% interval, relative
  int pairs_a_round = 7;            //!< over all buckets; rounds are added until the interval is narrow
  int most_pairs = 350;             //!< that count
  double longest_seconds = 10.0;
  double paper_window_seconds = 1800.0;
  std::uint64_t oracle_looks = 16;  //!< one timed call in so many is compared with the oracle, whatever it looks like
  std::uint64_t closer_looks = 1;   //!< and of those that are like the reference only on the whole, one in so many;
                                    //!< of the others one is kept to be looked at later
  std::chrono::milliseconds call_limit{1000};
};

//! What a timed call was given, and what it made of it.
struct TimedCall {
  TensorTable leaves;
  Distribution distribution;
  std::vector<at::Tensor> results;
};

struct Measurement {
  std::optional<Failure> failure;
  std::vector<OutputError> errors;  //!< with wrong_when_timed: of the call that failed
  TimingSummary summary;
  std::string profile;              //!< of the candidate, where the device says where its time goes
  std::vector<TimedPair> pairs;     //!< of solutions in Python: what the summary was made from
  std::optional<TimedCall> unseen;  //!< one of those that were left out at random, if there are any
};

//! Measures until the result is stable, a few times at most, and puts it down. What is left to say is a failure; that
//! clocks disagree is said only if they do so most of the time and never agree.
std::optional<Failure> measure_until_stable(const std::function<Measurement()>& measure_once, TimingProtocol protocol,
                                            Evaluation& evaluation);

//! Both sessions are loaded; constants are put in place here. Outputs of timed calls are checked.
Measurement measure(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random);

//! Compares with the oracle; `errors` are those of one that does not match.
std::optional<Failure> check_timed_call(TaskContext& context, const TimedCall& call, Random& random,
                                        std::vector<OutputError>& errors);

//! Measuring on devices that predict: one call each, whose times are exact; where verification saw that some inputs
//! take much longer than the task's own, one each on those, too, and the worse counts.
Measurement predict(TaskContext& context, PlanSession& candidate, const Verification& verified,
                    const MeasurementOptions& options, Random& random);

}  // namespace cudal1
