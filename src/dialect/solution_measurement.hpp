// How fast is a solution? Reference and solution in pairs, each in its process, by the judge's clock and theirs.
#pragma once

#include "dialect/solution_verification.hpp"
#include "judge/measurement.hpp"

namespace cudal1 {

//! Pure, for tests: what the calls of one side took.
struct ClockReadings {
  std::vector<double> device_ms, joined_ms, total_ms;
};

//! What the solution's own clock does not account for, beside the reference's.
struct ClockVerdict {
  std::optional<Failure> failure;  //!< clock_mismatch; unstable where the machine is too busy to tell
  double charged_ms = 0.0;         //!< to be added to each of the solution's times
  double noise_ms = 0.0;           //!< of the judge's clock, as the reference's calls show it
  bool certain = false;            //!< the noise is small beside what was measured
};

ClockVerdict compare_clocks(const ClockReadings& reference, const ClockReadings& solution);

//! Both sessions are loaded; constants are put in place here. Outputs of timed calls are checked.
Measurement measure_solution(const SolutionContext& context, SolutionSession& reference, SolutionSession& solution,
                             const Verification& verified, const MeasurementOptions& options,
                             const SolutionLimits& limits, Random& random);

}  // namespace cudal1
