// Is a solution correct, and does it do its work when it is asked and not at other times?
#pragma once

#include "dialect/solution_session.hpp"
#include "judge/verification.hpp"

namespace cudal1 {

//! Everything about one task that its solutions share.
struct SolutionContext {
  SolutionContext(SolutionTask task, SolutionDevice device, PrecisionPolicy precision, std::uint64_t seed);

  TensorTable draw_constants(std::uint64_t seed, bool fresh) const;
  TensorTable with_inputs(const TensorTable& constants, Distribution distribution, std::uint64_t seed) const;
  PrecisionFlags flags() const;

  SolutionTask task;
  SolutionDevice device;
  PrecisionPolicy precision;
  MatchRule rule;
  std::vector<Distribution> distributions;
  std::vector<bool> changing_weights;  //!< by weight: does a fresh draw give other values?
  bool degenerate = false;
};

struct SolutionVerificationOptions {
  int native_sets = 2;
  bool demand_equal_bits = false;
  SolutionLimits limits;
};

//! The solution is loaded. `reference_processes`: how many processes an honest session has.
Verification verify_solution(const SolutionContext& context, SolutionSession& session,
                             const SolutionVerificationOptions& options, int reference_processes, Random& random);

//! Threads and processes that calls leave behind, and work between calls. `warm`: the count after the first calls.
std::optional<Failure> find_background_work(const ProcessWatch& watch, const ProcessCount& warm);

}  // namespace cudal1
