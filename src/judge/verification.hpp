// Is it correct? Everything that is checked before a program is timed.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "judge/task_context.hpp"

namespace cudal1 {

struct VerificationOptions {
  int native_sets = 2;             //!< input sets of the task's own distribution; every derived one comes on top
  bool demand_equal_bits = false;  //!< `--deterministic`
  //! Where the store has no room for all sets: only those that it holds, and a few at least. For who is looked at again.
  bool few_sets = false;
  std::chrono::milliseconds call_limit{1000};
};

struct Verification {
  std::optional<Failure> failure;
  std::vector<OutputError> worst;  //!< one entry an output: the input set that came closest to its budget
  std::optional<bool> deterministic;
  //! By distribution, then output: the smallest budget met, for the cheap test of timed calls.
  std::map<Distribution, std::vector<OutputBudget>> budgets;
  bool is_partial = false;        //!< not on all sets: see VerificationOptions::few_sets
  std::vector<Finding> findings;  //!< of the first call that had any
  std::string printed;            //!< by the first call that printed
  TensorTable constants;          //!< weights and states that are in place now
  //! The longest call on such inputs, as the device says. Cold calls: of use where times are predicted.
  std::map<Distribution, double> call_ms;
};

//! The plan must be loaded in `session`.
Verification verify(TaskContext& context, PlanSession& session, const VerificationOptions& options, Random& random);

//! Does the output follow when random elements of the inputs change? For results that look too fast to be true.
std::optional<Failure> test_dependence(TaskContext& context, PlanSession& session, const TensorTable& constants,
                                       std::chrono::milliseconds call_limit, Random& random);

//! Outputs, then states, as the last call left them.
std::vector<at::Tensor> results_in(const TaskContext& context, const PlanSession& session);

//! Compares what the last call left with what it should be; empty when it matches.
std::optional<Failure> check_results(TaskContext& context, const PlanSession& session, const Expected& expected,
                                     Distribution distribution, Verification& verification);

// The parts of it that judge other dialects as well.

//! Compares results (outputs, then states) with what they should be, and keeps the worst; empty when they match.
std::optional<Failure> check_results(const MatchRule& rule, const std::vector<at::Tensor>& results,
                                     const Expected& expected, Distribution distribution, Verification& verification);

//! Both runs matched; they may still differ by up to twice the budget, which is more than honest reordering does.
std::optional<Failure> compare_runs(const std::vector<at::Tensor>& first, const std::vector<at::Tensor>& second,
                                    const Expected& expected, bool demand_equal_bits, Verification& verification);

//! Keeps the smaller ones, for the cheap test of timed calls.
void keep_budgets(Verification& verification, Distribution distribution, const Expected& expected);

}  // namespace cudal1
