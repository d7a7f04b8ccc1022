// What stage 3 made of its tasks: the earliest program that was right beside the best one.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "train/data/training_example.hpp"

namespace cudal1 {

struct FoundProgram {
  std::int64_t step = 0;  //!< counted from 1
  std::string text;
  double speedup = 0.0;
  bool is_the_writers = false;  //!< the writer made the same plan, and a prompt may have shown it
};

struct ProgramProgress {
  std::string task;
  FoundProgram earliest, best;
  std::size_t samples = 0, successes = 0;
  //! ln of how many times as fast the best is.
  double gain() const;
};

//! Of each task with a success, the largest gain first, then by name. Of the successes of the earliest group the first
//! that was written; of equally fast ones the earliest. Throws Error for a sample whose group does not tell its step.
std::vector<ProgramProgress> progress_of_tasks(std::span<const TrainingExample> samples,
                                               const std::set<std::string>& writers_plans);

//! "graph, lanes=64": what `after` has that `before` has not. One line; "nothing" where they are alike.
std::string change_in_words(const std::string& before, const std::string& after);

}  // namespace cudal1
