// One search, a program at a time: a policy proposes, a judge judges, and the best is kept.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"
#include "policy/policy.hpp"

namespace cudal1 {

struct SearchLimits {
  int evaluations = 20;
  double seconds = std::numeric_limits<double>::infinity();  //!< of this search's own steps
};

//! A program and what became of it.
struct JudgedProgram {
  std::string text;
  Evaluation evaluation;
};

//! Who does the work.
struct SearchParts {
  Policy* policy = nullptr;
  //! Begins to compile; judged in the order of these calls.
  std::function<void(const std::string& text)> start;
  std::function<Evaluation(double best_known)> finish;
  //! What was judged while somebody asked to stop is not believed.
  std::function<bool()> stop = [] { return false; };
};

class SearchRun {
 public:
  //! `known`: programs that were judged before; they are not judged again. `spent`: of the limits, by an earlier run.
  struct Spent {
    int evaluations = 0;
    double seconds = 0.0;
  };
  SearchRun(SearchParts parts, const SearchLimits& limits, std::vector<ScoredProgram> known, Spent spent);

  //! Nothing more will be judged: a limit is reached, somebody asked to stop, or there is nothing new to try.
  bool is_over() const;
  //! Judges one program. Null where the search ended instead.
  const JudgedProgram* step();

  const std::vector<JudgedProgram>& judged() const { return judged_; }  //!< by this run
  //! By this run; null: none was right.
  const JudgedProgram* best() const;
  //! Those known before count, too; 0: none.
  double best_reward() const { return best_reward_; }
  Spent spent() const { return spent_; }                               //!< with what earlier runs spent
  double seconds() const { return spent_.seconds - before_.seconds; }  //!< of this run
  const SearchLimits& limits() const { return limits_; }
  bool is_exhausted() const { return exhausted_; }  //!< the policy had nothing more to propose

 private:
  void fill_queue();
  void take(JudgedProgram finding);

  SearchParts parts_;
  SearchLimits limits_;
  Spent before_, spent_;
  std::vector<ScoredProgram> seen_;
  std::deque<std::string> waiting_;
  std::vector<JudgedProgram> judged_;
  std::optional<std::size_t> best_;
  double best_reward_ = 0.0;
  bool exhausted_ = false;
};

}  // namespace cudal1
