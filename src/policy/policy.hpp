// Who writes programs: a search, or language models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

//! A program that was judged.
struct ScoredProgram {
  std::string text;
  double reward = 0.0;                 //!< 0: it was not right
  double candidate_ms = 0.0;           //!< of a call; 0: not known
  Failure failure = {Status::ok, ""};  //!< what was wrong with it
  std::string profile = {};            //!< where its time goes, as an Evaluation has it; empty: nobody knows
  double speedup = 0.0;                //!< of which the reward is made; 0: not known
};

class Policy {
 public:
  virtual ~Policy() = default;
  //! A program that was not proposed before and is not among those seen. `seen` only ever grows. Nothing: there is
  //! none.
  virtual std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) = 0;
};

}  // namespace cudal1
