#include "policy/prompt/exemplar_selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::array<std::pair<ExemplarChoice, std::string_view>, 4> choice_names{{{ExemplarChoice::bucket, "bucket"},
                                                                                   {ExemplarChoice::island, "island"},
                                                                                   {ExemplarChoice::random, "random"},
                                                                                   {ExemplarChoice::none, "none"}}};

//! White space at both ends makes no other program.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

//! Of each text the last one, if it was right.
Indices distinct_right_ones(const std::vector<ScoredProgram>& programs) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < programs.size(); ++i) last[trimmed(programs[i].text)] = i;
  Indices indices;
  for (const auto& [text, index] : last)
    if (std::isfinite(programs[index].reward) && programs[index].reward > 0.0) indices.push_back(index);
  std::ranges::sort(indices);
  return indices;
}

double log_score(const ScoredProgram& program) { return std::log(program.reward); }

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

std::size_t take(Indices& from, std::size_t at) {
  const std::size_t index = from[at];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return index;
}

//! Uniformly, without repetition.
void fill_up(Indices& chosen, Indices from, std::size_t count, Random& random) {
  std::erase_if(from, [&](std::size_t index) { return std::ranges::find(chosen, index) != chosen.end(); });
  while (chosen.size() < count && !from.empty()) chosen.push_back(take(from, random.below(from.size())));
}

Indices from_buckets(const std::vector<ScoredProgram>& programs, const ExemplarOptions& options, Random& random) {
  std::vector<ScoreBucket> buckets = score_buckets(programs, options.bucket_width);
  Indices chosen;
  while (chosen.size() < options.count && !buckets.empty()) {
    const std::size_t at = drawn(bucket_probabilities(buckets, options.temperature), random);
    Indices& members = buckets[at].members;
    chosen.push_back(members[random.below(members.size())]);
    buckets.erase(buckets.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return chosen;
}

//! The island follows from the text, as in the search: a run that begins again finds the same ones.
std::vector<Indices> islands_of(const std::vector<ScoredProgram>& programs, const Indices& right, std::size_t count) {
  std::vector<Indices> islands(count);
  for (const std::size_t index : right) {
    const std::string hash = sha256_hex(trimmed(programs[index].text));
    islands[std::stoull(hash.substr(0, 8), nullptr, 16) % count].push_back(index);
  }
  std::erase_if(islands, [](const Indices& island) { return island.empty(); });
  return islands;
}

Indices from_an_island(const std::vector<ScoredProgram>& programs, const Indices& right, const ExemplarOptions& options,
                       Random& random) {
  const std::vector<Indices> islands = islands_of(programs, right, options.islands);
  if (islands.empty()) return {};
  Indices island = islands[random.below(islands.size())];
  Indices chosen;
  while (chosen.size() < options.count && !island.empty()) {
    std::vector<double> scores;
    for (const std::size_t index : island) scores.push_back(log_score(programs[index]));
    chosen.push_back(take(island, drawn(softmax(scores, options.temperature), random)));
  }
  return chosen;
}

void check(const ExemplarOptions& options) {
  if (!(options.bucket_width > 0.0) || !(options.temperature > 0.0) || options.islands == 0)
    throw Error("exemplars: the width of buckets, the temperature and the number of islands must be above 0");
}

}  // namespace

std::string_view to_string(ExemplarChoice choice) {
  return std::ranges::find(choice_names, choice, &std::pair<ExemplarChoice, std::string_view>::first)->second;
}

std::optional<ExemplarChoice> exemplar_choice_from_string(std::string_view name) {
  for (const auto& [choice, known] : choice_names)
    if (known == name) return choice;
  return std::nullopt;
}

std::vector<ScoreBucket> score_buckets(const std::vector<ScoredProgram>& programs, double width) {
  std::map<long long, ScoreBucket> buckets;
  for (const std::size_t index : distinct_right_ones(programs)) {
    const double score = log_score(programs[index]);
    const auto number = static_cast<long long>(std::floor(score / width));
    ScoreBucket& bucket = buckets[number];
    bucket.number = number;
    bucket.mean += score;
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

std::vector<std::size_t> select_exemplars(const std::vector<ScoredProgram>& programs, const ExemplarOptions& options,
                                          Random& random) {
  check(options);
  if (options.choice == ExemplarChoice::none || options.count == 0) return {};
  const Indices right = distinct_right_ones(programs);
  Indices chosen;
  if (options.choice == ExemplarChoice::bucket) chosen = from_buckets(programs, options, random);
  if (options.choice == ExemplarChoice::island) chosen = from_an_island(programs, right, options, random);
  fill_up(chosen, right, options.count, random);
  std::ranges::stable_sort(chosen, {}, [&](std::size_t index) { return programs[index].reward; });
  return chosen;
}

}  // namespace cudal1
