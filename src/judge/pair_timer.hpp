// One reference call and one candidate call on the same fresh inputs, timed and checked.
#pragma once

#include <optional>
#include <utility>

#include "judge/measurement.hpp"

namespace cudal1 {

struct PairTimes {
  CallTimes reference, candidate;
  bool on_derived_inputs = false;
};

class PairTimer {
 public:
  PairTimer(TaskContext& context, PlanSession& candidate, const Verification& verified,
            const MeasurementOptions& options, Random& random);

  //! Takes these processes of reference and candidate, and puts weights in place.
  std::optional<Failure> use_processes(int reference, int candidate);

  //! Of both, until a call is enqueued.
  void hold_device(bool hold);

  //! One pair in four is on derived inputs, exactly.
  std::optional<Failure> time_pair(PairTimes& times);
  std::optional<Failure> time_pair_on(Distribution distribution, PairTimes& times);

  //! Of the timed call whose results did not match, if there was one.
  const std::vector<OutputError>& errors() const { return errors_; }

  //! One call of those that the oracle was to leave out, each as likely as any other.
  std::optional<TimedCall> take_unseen() { return std::exchange(unseen_, std::nullopt); }

  //! After the last pair: weights and prepared buffers are as they were.
  std::optional<Failure> check_constants() { return candidate_.find_violation(true); }

 private:
  Distribution choose_distribution();
  CallTimes time_reference(const TensorTable& leaves);
  //! The reference has just computed the same inputs in its own process.
  Closeness closeness_to_reference(Distribution distribution) const;
  enum class Look { none, with_oracle, later };
  Look look_at(Distribution distribution);
  void keep_for_later(const TensorTable& leaves, Distribution distribution);
  std::optional<Failure> check_outputs(const TensorTable& leaves, Distribution distribution);

  TaskContext& context_;
  PlanSession& candidate_;
  const Verification& verified_;
  const MeasurementOptions& options_;
  Random& random_;
  std::uint64_t place_ = 0, derived_place_ = 0;  // within four pairs
  std::vector<OutputError> errors_;
  std::uint64_t left_out_ = 0;
  std::optional<TimedCall> unseen_;
};

}  // namespace cudal1
