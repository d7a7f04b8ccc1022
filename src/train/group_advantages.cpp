#include "train/group_advantages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/result.hpp"
#include "train/moments.hpp"

namespace cudal1 {
namespace {

bool counts(const ShapedReward& sample) { return sample.kind != SampleKind::uncounted; }

bool failed(const ShapedReward& sample) {
  return sample.kind == SampleKind::failure || sample.kind == SampleKind::idle;
}

//! Of the samples that count.
std::vector<ShapedReward> counted(std::span<const ShapedReward> group) {
  std::vector<ShapedReward> samples;
  std::ranges::copy_if(group, std::back_inserter(samples), counts);
  return samples;
}

}  // namespace

std::vector<double> group_advantages(std::span<const double> rewards, double deviation_floor) {
  if (!(deviation_floor >= 0.0)) throw Error(fmt::format("advantages: a floor of {} is below 0", deviation_floor));
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (!std::isfinite(rewards[i]))
      throw Error(fmt::format("advantages: the reward of sample {} is {}", i, rewards[i]));
  const Moments moments = moments_of(rewards);
  std::vector<double> advantages(rewards.size(), 0.0);
  if (moments.deviation == 0.0) return advantages;
  const double unit = std::max(moments.deviation, deviation_floor);
  for (std::size_t i = 0; i < rewards.size(); ++i) advantages[i] = (rewards[i] - moments.mean) / unit;
  return advantages;
}

std::vector<double> group_advantages(std::span<const ShapedReward> group, double deviation_floor) {
  std::vector<double> rewards;
  for (const ShapedReward& sample : counted(group)) rewards.push_back(sample.reward);
  const std::vector<double> advantages = group_advantages(rewards, deviation_floor);
  std::vector<double> all;
  std::size_t next = 0;
  for (const ShapedReward& sample : group) all.push_back(counts(sample) ? advantages[next++] : 0.0);
  return all;
}

std::string_view to_string(GroupSpread spread) {
  constexpr std::string_view names[] = {"spread", "tie", "all_failed", "unmeasured"};
  return names[static_cast<std::size_t>(spread)];
}

GroupSpread spread_of(std::span<const ShapedReward> group) {
  const std::vector<ShapedReward> samples = counted(group);
  if (samples.size() < 2) return GroupSpread::unmeasured;
  if (std::ranges::all_of(samples, failed)) return GroupSpread::all_failed;
  const double highest_low = std::ranges::max(samples, {}, &ShapedReward::low).low;
  const double lowest_high = std::ranges::min(samples, {}, &ShapedReward::high).high;
  return highest_low <= lowest_high ? GroupSpread::tie : GroupSpread::spread;
}

GroupAction action_for(GroupSpread spread, int resampled_before, const GroupOptions& options) {
  if (spread == GroupSpread::spread) return GroupAction::train;
  if (spread == GroupSpread::all_failed) return GroupAction::drop;
  return resampled_before < options.most_resamples ? GroupAction::resample : GroupAction::drop;
}

void GroupCounts::add(GroupSpread spread, GroupAction action) {
  ++sampled;
  trained += action == GroupAction::train;
  resampled += action == GroupAction::resample;
  dropped += action == GroupAction::drop;
  ties += spread == GroupSpread::tie;
  all_failed += spread == GroupSpread::all_failed;
  unmeasured += spread == GroupSpread::unmeasured;
}

}  // namespace cudal1
