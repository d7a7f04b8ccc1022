// The programs of tests/match_rule on a backend: how much of its error budget each takes, on every distribution.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judge/gpu_lock.hpp"
#include "judge/verification.hpp"
#include "program/plan.hpp"

namespace cudal1::testing {

std::filesystem::path match_rule_folder();

//! All programs of the collection as "task/file.cu".
std::vector<std::string> match_rule_programs();

//! One output of one program on one input set.
struct MatchRuleSample {
  OutputError error;
  OutputBudget budget;
};

//! A task of the collection with its input sets, the same ones for all its programs. Unlike a verdict, which ends at
//! the first set that does not match, a measurement runs every set.
class MatchRuleTask {
 public:
  MatchRuleTask(Backend& backend, const std::string& name);

  const std::string& name() const { return context_.task().name; }
  std::int64_t longest_reduction() const;

  //! Every output on every set. Throws Error when the program does not run or writes where it must not.
  std::vector<MatchRuleSample> measure(const std::string& file);

 private:
  struct InputSet {
    Distribution distribution;
    TensorTable leaves;
    Expected expected;
  };
  struct Round {  //!< the sets that share their weights
    TensorTable constants;
    std::vector<InputSet> sets;
  };

  void measure_round(const Round& round, std::vector<MatchRuleSample>& samples);

  Backend& backend_;
  GpuLock lock_;
  TaskContext context_;
  std::vector<Round> rounds_;
};

//! The task of this program; the last one asked for stays ready.
MatchRuleTask& match_rule_task(Backend& backend, const std::string& program);

//! Measures a program, records it, and expects what its name promises: "honest" ones match on every set, "lowprecision"
//! ones fail on one set at least, "undecided" ones may do either.
void expect_verdict_in_name(Backend& backend, const std::string& program);

}  // namespace cudal1::testing
