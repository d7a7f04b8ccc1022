#include "train/exemplar_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::array<std::pair<ExemplarScores, std::string_view>, 3> score_names{
    {{ExemplarScores::measured, "measured"}, {ExemplarScores::shuffled, "shuffled"}, {ExemplarScores::hidden, "hidden"}}};

}  // namespace

std::string_view to_string(ExemplarScores scores) {
  return std::ranges::find(score_names, scores, &std::pair<ExemplarScores, std::string_view>::first)->second;
}

std::optional<ExemplarScores> exemplar_scores_from_string(std::string_view name) {
  for (const auto& [scores, known] : score_names)
    if (known == name) return scores;
  return std::nullopt;
}

void check(const ExemplarPoolOptions& options) {
  check(options.selection);
  if (!(options.share_without >= 0.0 && options.share_without <= 1.0))
    throw Error("exemplars: the share of prompts without any must be from 0 to 1");
}

ExemplarPool::ExemplarPool(const ExemplarPoolOptions& options)
    : options_(options), islands_(options.selection.islands) {
  check(options);
}

std::size_t ExemplarPool::add(const std::string& plan_hash, double score, std::optional<std::size_t> island) {
  if (!std::isfinite(score)) throw Error(fmt::format("exemplars: the score of plan {} is {}", plan_hash, score));
  if (island && *island >= islands_.size())
    throw Error(fmt::format("exemplars: there is no island {}, only {} of them", *island, islands_.size()));
  const auto [known, is_new] = numbers_.try_emplace(plan_hash, scores_.size());
  const std::size_t plan = known->second;
  if (!is_new) {
    scores_[plan] = score;
    return plan;
  }
  scores_.push_back(score);
  join(island.value_or(plan % islands_.size()), plan);
  if (options_.migrate_every > 0 && size() % options_.migrate_every == 0) migrate();
  if (options_.reset_every > 0 && size() % options_.reset_every == 0) reset_worst();
  return plan;
}

DrawnExemplars ExemplarPool::draw(Random& random) const {
  const ExemplarOptions& selection = options_.selection;
  if (selection.choice == ExemplarChoice::none || selection.count == 0) return {};
  if (options_.share_without > 0.0 && random.uniform() < options_.share_without) return {};
  if (size() == 0) return {};
  std::vector<std::size_t> all(size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  DrawnExemplars drawn;
  if (selection.choice == ExemplarChoice::island) drawn = draw_from_an_island(random);
  if (selection.choice == ExemplarChoice::bucket)
    drawn.plans = draw_from_buckets(score_buckets(scores_, all, selection.bucket_width), selection.count,
                                    selection.temperature, random);
  fill_up_exemplars(drawn.plans, all, selection.count, random);
  shuffle(drawn.plans, random);
  drawn.scored_as = drawn.plans;
  if (options_.scores == ExemplarScores::shuffled) shuffle(drawn.scored_as, random);
  return drawn;
}

DrawnExemplars ExemplarPool::draw_from_an_island(Random& random) const {
  std::vector<std::size_t> inhabited;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (!islands_[i].empty()) inhabited.push_back(i);
  const std::size_t island = inhabited[random.below(inhabited.size())];
  const ExemplarOptions& selection = options_.selection;
  return {draw_by_score(scores_, islands_[island], selection.count, selection.temperature, random), {}, island};
}

std::size_t ExemplarPool::best_of(const std::vector<std::size_t>& members) const {
  return *std::ranges::max_element(members, {}, [&](std::size_t plan) { return scores_[plan]; });
}

void ExemplarPool::join(std::size_t island, std::size_t plan) {
  std::vector<std::size_t>& members = islands_[island];
  if (std::ranges::find(members, plan) == members.end()) members.push_back(plan);
}

void ExemplarPool::migrate() {
  // All leave before any arrives, so that nobody travels round the ring in one go.
  std::vector<std::pair<std::size_t, std::size_t>> journeys;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (!islands_[i].empty()) journeys.emplace_back((i + 1) % islands_.size(), best_of(islands_[i]));
  for (const auto& [island, plan] : journeys) join(island, plan);
}

void ExemplarPool::reset_worst() {
  std::size_t worst = islands_.size(), best = islands_.size();
  const auto top = [&](std::size_t island) { return scores_[best_of(islands_[island])]; };
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    if (islands_[i].empty()) continue;
    if (worst == islands_.size() || top(i) < top(worst)) worst = i;
    if (best == islands_.size() || top(i) > top(best)) best = i;
  }
  if (worst != best) islands_[worst] = {best_of(islands_[best])};
}

}  // namespace cudal1
