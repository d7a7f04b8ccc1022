#include "train/collapse_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/result.hpp"
#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

using Holds = std::function<bool(const StepVitals&)>;

//! The last that were not skipped and of which this holds, at most `count`, the newest first.
std::vector<StepVitals> last_steps(
    std::span<const StepVitals> history, std::size_t count,
    const Holds& holds = [](const StepVitals&) { return true; }) {
  std::vector<StepVitals> steps;
  for (std::size_t i = history.size(); i-- > 0 && steps.size() < count;)
    if (!history[i].skipped && holds(history[i])) steps.push_back(history[i]);
  return steps;
}

bool has_kl(const StepVitals& step) { return step.kl.has_value(); }
bool has_trick(const StepVitals& step) { return !step.trick.trick.empty(); }

std::size_t skipped_at_the_end(std::span<const StepVitals> history) {
  std::size_t count = 0;
  while (count < history.size() && history[history.size() - 1 - count].skipped) ++count;
  return count;
}

double median_over(const std::vector<StepVitals>& steps, const std::function<double(const StepVitals&)>& number) {
  std::vector<double> values;
  for (const StepVitals& step : steps) values.push_back(number(step));
  return median(std::move(values));
}

//! One trick, the newest step's, in all of them: several that take turns are no collapse.
double share_of_the_same_trick(const std::vector<StepVitals>& steps) {
  return median_over(steps, [&](const StepVitals& step) {
    return step.trick.trick == steps.front().trick.trick ? step.trick.share : 0.0;
  });
}

std::optional<std::string> unreadable(const std::vector<StepVitals>& steps) {
  for (const StepVitals& step : steps)
    for (const auto& [what, value] : {std::pair{"entropy", step.entropy},
                                      {"KL", step.kl.value_or(0.0)},
                                      {"number of distinct plans", step.distinct_plans},
                                      {"share of one trick", step.trick.share}})
      if (!std::isfinite(value)) return fmt::format("the {} is {}", what, value);
  return std::nullopt;
}

std::string median_of(const CollapseLimits& limits) { return fmt::format("(median of {} steps)", limits.steps); }

std::optional<std::string> too_far(const std::vector<StepVitals>& with_kl, const CollapseLimits& limits) {
  if (with_kl.size() < limits.steps) return std::nullopt;
  const double kl = median_over(with_kl, [](const StepVitals& step) { return step.kl.value_or(0.0); });
  if (kl <= limits.largest_kl) return std::nullopt;
  return fmt::format("the KL to the reference policy is {:.3f} nats a token, above {} {}", kl, limits.largest_kl,
                     median_of(limits));
}

std::optional<std::string> one_trick(const std::vector<StepVitals>& with_trick, const CollapseLimits& limits) {
  if (with_trick.size() < limits.steps) return std::nullopt;
  const double share = share_of_the_same_trick(with_trick);
  if (share < limits.largest_trick_share) return std::nullopt;
  return fmt::format("{:.0f}% of the reward where there was a choice comes from '{}' {}", 100.0 * share,
                     with_trick.front().trick.trick, median_of(limits));
}

}  // namespace

TrickShare largest_trick_share(std::span<const EarnedReward> rewards) {
  std::map<std::string, double> earned;
  double all = 0.0;
  for (const EarnedReward& one : rewards) {
    if (!std::isfinite(one.reward)) throw Error(fmt::format("the reward of '{}' is {}", one.trick, one.reward));
    if (one.reward <= 0.0) continue;
    earned[one.trick] += one.reward;
    all += one.reward;
  }
  TrickShare largest;
  for (const auto& [trick, reward] : earned)
    if (reward / all > largest.share) largest = {trick, reward / all};
  return largest;
}

std::size_t distinct_plans(std::span<const std::string> plan_hashes) {
  std::set<std::string> different(plan_hashes.begin(), plan_hashes.end());
  different.erase("");
  return different.size();
}

std::optional<std::string> collapse_reason(std::span<const StepVitals> history, const CollapseLimits& limits) {
  if (limits.steps == 0) throw Error("a run is watched over at least one step, not 0");
  if (const std::size_t skipped = skipped_at_the_end(history); skipped > 0 && skipped >= limits.most_skipped)
    return fmt::format("the loss was not finite {} steps in a row", skipped);
  const std::vector<StepVitals> steps = last_steps(history, limits.steps);
  if (const auto reason = unreadable(steps)) return reason;
  if (steps.size() < limits.steps) return std::nullopt;
  const std::string of = median_of(limits);
  if (const double entropy = median_over(steps, &StepVitals::entropy); entropy < limits.least_entropy)
    return fmt::format("the entropy is {:.4f} nats a token, below {} {}", entropy, limits.least_entropy, of);
  if (const auto reason = too_far(last_steps(history, limits.steps, has_kl), limits)) return reason;
  if (const double plans = median_over(steps, &StepVitals::distinct_plans); plans < limits.least_distinct_plans)
    return fmt::format("a group has {:.1f} distinct plans, fewer than {} {}", plans, limits.least_distinct_plans, of);
  return one_trick(last_steps(history, limits.steps, has_trick), limits);
}

}  // namespace cudal1
