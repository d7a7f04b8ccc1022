#include "policy/prompt/exemplar_draw.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace cudal1 {
namespace {

//! Shares of exp(score / temperature), with the largest score taken off, so that none overflows.
std::vector<double> softmax(const std::vector<double>& scores, double temperature) {
  std::vector<double> shares;
  if (scores.empty()) return shares;
  const double largest = *std::ranges::max_element(scores);
  for (const double score : scores) shares.push_back(std::exp((score - largest) / temperature));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::size_t drawn(const std::vector<double>& probabilities, Random& random) {
  double left = random.uniform();
  for (std::size_t i = 0; i + 1 < probabilities.size(); ++i) {
    if (left < probabilities[i]) return i;
    left -= probabilities[i];
  }
  return probabilities.size() - 1;
}

std::size_t take(std::vector<std::size_t>& from, std::size_t at) {
  const std::size_t index = from[at];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return index;
}

}  // namespace

std::vector<ScoreBucket> score_buckets(std::span<const double> scores, std::span<const std::size_t> among,
                                       double width) {
  std::map<long long, ScoreBucket> buckets;
  for (const std::size_t index : among) {
    const auto number = static_cast<long long>(std::floor(scores[index] / width));
    ScoreBucket& bucket = buckets[number];
    bucket.number = number;
    bucket.mean += scores[index];
    bucket.members.push_back(index);
  }
  std::vector<ScoreBucket> sorted;
  for (auto& [number, bucket] : buckets) {
    bucket.mean /= static_cast<double>(bucket.members.size());
    sorted.push_back(std::move(bucket));
  }
  return sorted;
}

std::vector<double> bucket_probabilities(const std::vector<ScoreBucket>& buckets, double temperature) {
  std::vector<double> means;
  for (const ScoreBucket& bucket : buckets) means.push_back(bucket.mean);
  return softmax(means, temperature);
}

std::vector<std::size_t> draw_from_buckets(std::vector<ScoreBucket> buckets, std::size_t count, double temperature,
                                           Random& random) {
  std::vector<std::size_t> chosen;
  while (chosen.size() < count && !buckets.empty()) {
    const std::size_t at = drawn(bucket_probabilities(buckets, temperature), random);
    const std::vector<std::size_t>& members = buckets[at].members;
    chosen.push_back(members[random.below(members.size())]);
    buckets.erase(buckets.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return chosen;
}

std::vector<std::size_t> draw_by_score(std::span<const double> scores, std::vector<std::size_t> among,
                                       std::size_t count, double temperature, Random& random) {
  std::vector<std::size_t> chosen;
  while (chosen.size() < count && !among.empty()) {
    std::vector<double> left;
    for (const std::size_t index : among) left.push_back(scores[index]);
    chosen.push_back(take(among, drawn(softmax(left, temperature), random)));
  }
  return chosen;
}

void shuffle(std::vector<std::size_t>& values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[random.below(left)]);
}

void fill_up_exemplars(std::vector<std::size_t>& chosen, std::vector<std::size_t> from, std::size_t count,
                       Random& random) {
  std::erase_if(from, [&](std::size_t index) { return std::ranges::find(chosen, index) != chosen.end(); });
  while (chosen.size() < count && !from.empty()) chosen.push_back(take(from, random.below(from.size())));
}

}  // namespace cudal1
