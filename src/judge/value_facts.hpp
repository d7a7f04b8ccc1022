// What the match rule knows about the values of a task before anything is computed.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/task.hpp"

namespace cudal1 {

struct ValueFacts {
  //! Whole numbers, or a choice among such: whoever computes them rounds nothing, so they do not move. Sums of them may
  //! still outgrow what their dtype counts to, which only their size tells.
  bool exact = false;
  //! Behind a step (rounding, a comparison, an index of the largest): moved by nothing to speak of, some elements
  //! become something else.
  bool jumps = false;
  //! Integers that name places of elements, among so many; 0: others. Only those can be right that were seen to be.
  std::int64_t places = 0;
  std::int64_t terms = 1;          //!< of the longest sum among all that it is made of
  std::int64_t nearest_terms = 1;  //!< of the longest sum that makes it or reads it
};

//! By value id.
std::vector<ValueFacts> facts_of(const Task& task);

//! Of the task's outputs, then of its states as a call leaves them.
std::vector<ValueFacts> facts_of_results(const Task& task, const std::vector<ValueFacts>& facts);

}  // namespace cudal1
