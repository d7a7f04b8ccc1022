// Which earlier programs a prompt shows. As in the paper: programs lie in buckets of like score, some distinct buckets
// are drawn, faster ones more often, and one program of each. The others are there to be compared with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "policy/policy.hpp"
#include "policy/prompt/exemplar_draw.hpp"

namespace cudal1 {

enum class ExemplarChoice {
  bucket,  //!< distinct buckets of scores, faster ones more often
  island,  //!< of one of several populations that seldom meet, faster ones more often
  random,  //!< any that were right
  none,
};

std::string_view to_string(ExemplarChoice choice);
std::optional<ExemplarChoice> exemplar_choice_from_string(std::string_view name);

//! The paper gives neither tau nor the width of a bucket; both are in units of the natural logarithm of a speed-up, so
//! that from 1x to 1.1x is as far as from 10x to 11x.
struct ExemplarOptions {
  ExemplarChoice choice = ExemplarChoice::bucket;
  std::size_t count = 2;
  double bucket_width = 0.1;
  double temperature = 0.5;
  std::size_t islands = 4;

  bool operator==(const ExemplarOptions&) const = default;
};

//! Of programs that were right (reward above 0), by the logarithm of the reward, the slowest bucket first. A text that
//! is there twice counts once, with its last reward.
std::vector<ScoreBucket> score_buckets(const std::vector<ScoredProgram>& programs, double width);

//! Throws Error for a width, temperature or number of islands that is not above 0.
void check(const ExemplarOptions& options);

//! Indices of `programs`, the slowest first, no text twice. Fewer than `count` where there are not as many that were
//! right; where there are fewer buckets, programs of the same ones fill up.
std::vector<std::size_t> select_exemplars(const std::vector<ScoredProgram>& programs, const ExemplarOptions& options,
                                          Random& random);

}  // namespace cudal1
