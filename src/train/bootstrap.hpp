// Is one arm of an experiment better than another? Paired bootstrap (Efron) over tasks and seeds.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.hpp"

namespace cudal1 {

//! One number for each seed and task: [seed][task].
using ScoreTable = std::vector<std::vector<double>>;

struct BootstrapOptions {
  std::size_t resamples = 10000;
  double confidence = 0.95;
};

struct MeanDifference {
  double mean = 0.0;              //!< over all tasks and seeds
  double low = 0.0, high = 0.0;   //!< percentiles of the resampled means
  double share_above_zero = 0.0;  //!< of the resampled means
  bool is_above_zero() const { return low > 0.0; }
};

//! first - second: arms that share seeds (initialisation and order of tasks) and tasks. Throws Error unless both tables
//! have the same seeds and tasks, at least one of each, and only finite numbers.
ScoreTable paired_differences(const ScoreTable& first, const ScoreTable& second);

//! The interval of the mean over tasks and seeds, both of which are drawn anew with putting back, each for itself: a
//! task that is drawn twice counts twice under every seed. With few seeds the interval knows little of how seeds
//! differ: three give ten different draws. The same Random gives the same interval. Throws Error as above.
MeanDifference bootstrap_mean(const ScoreTable& differences, const BootstrapOptions& options, Random& random);

}  // namespace cudal1
