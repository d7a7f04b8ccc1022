// Draws of exemplars by their scores alone, whatever programs they are of: the paper's buckets, and softmax.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.hpp"

namespace cudal1 {

struct ScoreBucket {
  long long number = 0;              //!< of scores from number * width up to (number + 1) * width
  double mean = 0.0;                 //!< of the scores
  std::vector<std::size_t> members;  //!< indices of programs
};

//! B_k = [k width, (k + 1) width) that hold one of the scores `among` names, the lowest first.
std::vector<ScoreBucket> score_buckets(std::span<const double> scores, std::span<const std::size_t> among,
                                       double width);

//! P proportional to exp((mean - mu) / tau): mu, being the same for all, falls out. Adds up to 1.
std::vector<double> bucket_probabilities(const std::vector<ScoreBucket>& buckets, double temperature);

//! Distinct buckets with their probabilities, without putting back, one member uniformly from each, in the order in
//! which they were drawn; fewer where there are not as many buckets.
std::vector<std::size_t> draw_from_buckets(std::vector<ScoreBucket> buckets, std::size_t count, double temperature,
                                           Random& random);

//! Of `among`, without putting back, with P proportional to exp(score / tau).
std::vector<std::size_t> draw_by_score(std::span<const double> scores, std::vector<std::size_t> among,
                                       std::size_t count, double temperature, Random& random);

//! Into any order, all alike (Fisher and Yates).
void shuffle(std::vector<std::size_t>& values, Random& random);

//! Adds others of `from`, drawn uniformly without repetition, until there are `count`.
void fill_up_exemplars(std::vector<std::size_t>& chosen, std::vector<std::size_t> from, std::size_t count,
                       Random& random);

}  // namespace cudal1
