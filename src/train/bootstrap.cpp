#include "train/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/result.hpp"

namespace cudal1 {
namespace {

void check_table(const ScoreTable& table) {
  if (table.empty() || table.front().empty()) throw Error("bootstrap: there is no seed or no task");
  for (std::size_t seed = 0; seed < table.size(); ++seed) {
    if (table[seed].size() != table.front().size())
      throw Error(fmt::format("bootstrap: seed {} has {} tasks, the first has {}", seed, table[seed].size(),
                              table.front().size()));
    for (std::size_t task = 0; task < table[seed].size(); ++task)
      if (!std::isfinite(table[seed][task]))
        throw Error(fmt::format("bootstrap: seed {} has {} for task {}", seed, table[seed][task], task));
  }
}

void check_options(const BootstrapOptions& options) {
  if (options.resamples == 0 || !(options.confidence > 0.0 && options.confidence < 1.0))
    throw Error("bootstrap: there must be resamples, and the confidence must lie between 0 and 1");
}

//! How often each of `count` things is drawn in `count` draws.
std::vector<double> draw_counts(std::size_t count, Random& random) {
  std::vector<double> times(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) times[random.below(count)] += 1.0;
  return times;
}

double weighted_mean(const ScoreTable& table, const std::vector<double>& seeds, const std::vector<double>& tasks) {
  double sum = 0.0;
  for (std::size_t seed = 0; seed < table.size(); ++seed)
    for (std::size_t task = 0; task < tasks.size(); ++task) sum += seeds[seed] * tasks[task] * table[seed][task];
  return sum / static_cast<double>(seeds.size() * tasks.size());
}

//! The smallest value that at least this share of the sorted ones do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(sorted.size()))) - 1];
}

}  // namespace

ScoreTable paired_differences(const ScoreTable& first, const ScoreTable& second) {
  check_table(first);
  check_table(second);
  if (first.size() != second.size() || first.front().size() != second.front().size())
    throw Error(fmt::format("bootstrap: {} seeds of {} tasks cannot be paired with {} of {}", first.size(),
                            first.front().size(), second.size(), second.front().size()));
  ScoreTable differences = first;
  for (std::size_t seed = 0; seed < first.size(); ++seed)
    for (std::size_t task = 0; task < first[seed].size(); ++task) differences[seed][task] -= second[seed][task];
  return differences;
}

MeanDifference bootstrap_mean(const ScoreTable& differences, const BootstrapOptions& options, Random& random) {
  check_table(differences);
  check_options(options);
  const std::size_t seeds = differences.size(), tasks = differences.front().size();
  std::vector<double> means;
  for (std::size_t i = 0; i < options.resamples; ++i) {
    const std::vector<double> seed_counts = draw_counts(seeds, random);
    means.push_back(weighted_mean(differences, seed_counts, draw_counts(tasks, random)));
  }
  std::ranges::sort(means);
  const double tail = 0.5 * (1.0 - options.confidence);
  const auto above = std::ranges::count_if(means, [](double mean) { return mean > 0.0; });
  return {.mean = weighted_mean(differences, std::vector<double>(seeds, 1.0), std::vector<double>(tasks, 1.0)),
          .low = percentile(means, tail),
          .high = percentile(means, 1.0 - tail),
          .share_above_zero = static_cast<double>(above) / static_cast<double>(means.size())};
}

}  // namespace cudal1
