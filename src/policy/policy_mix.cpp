#include "policy/policy_mix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/between_commas.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr int largest_weight = 1000;

int parse_weight(std::string_view text, std::string_view whole) {
  int weight = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (problem != std::errc{} || end != text.data() + text.size() || weight < 1 || weight > largest_weight)
    throw UsageError(fmt::format("--policy {}: '{}' is no weight: a whole number from 1 to {}, as in local:6,search:2",
                                 whole, text, largest_weight));
  return weight;
}

PolicyShare parse_share(std::string_view text, std::string_view whole, const std::vector<std::string>& known) {
  const std::size_t colon = text.find(':');
  PolicyShare share{std::string(text.substr(0, colon)), 1};
  if (std::ranges::find(known, share.name) == known.end())
    throw UsageError(
        fmt::format("--policy {}: there is no policy '{}'; there are {}", whole, share.name, fmt::join(known, ", ")));
  if (colon != std::string_view::npos) share.weight = parse_weight(text.substr(colon + 1), whole);
  return share;
}

std::vector<int> weights_of(const std::vector<PolicyMix::Part>& parts) {
  std::vector<int> weights;
  for (const PolicyMix::Part& part : parts) weights.push_back(part.weight);
  return weights;
}

}  // namespace

std::vector<PolicyShare> parse_policy_mix(std::string_view text, const std::vector<std::string>& known) {
  std::vector<PolicyShare> shares;
  for (const std::string_view part : between_commas(text)) {
    PolicyShare share = parse_share(part, text, known);
    if (std::ranges::find(shares, share.name, &PolicyShare::name) != shares.end())
      throw UsageError(fmt::format("--policy {}: '{}' comes twice", text, share.name));
    shares.push_back(std::move(share));
  }
  return shares;
}

std::size_t EvenTurns::next(const std::vector<bool>& passed) {
  std::size_t richest = weights_.size();
  int total = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (passed[i]) continue;
    credits_[i] += weights_[i];
    total += weights_[i];
    if (richest == weights_.size() || credits_[i] > credits_[richest]) richest = i;
  }
  if (opening_ > 0 && !passed.empty() && !passed[0]) {
    richest = 0;
    --opening_;
  }
  if (richest < weights_.size()) credits_[richest] -= total;
  return richest;
}

std::vector<std::size_t> first_turns(const std::vector<PolicyShare>& shares, std::size_t count) {
  std::vector<int> weights;
  for (const PolicyShare& share : shares) weights.push_back(share.weight);
  EvenTurns turns(std::move(weights));
  std::vector<std::size_t> made;
  while (made.size() < count) made.push_back(turns.next(std::vector<bool>(shares.size(), false)));
  return made;
}

PolicyMix::PolicyMix(std::vector<Part> parts, int opening)
    : parts_(std::move(parts)), turns_(weights_of(parts_), opening) {}

std::optional<std::string> PolicyMix::propose(const std::vector<ScoredProgram>& seen) {
  std::vector<bool> passed(parts_.size(), false);
  for (std::size_t turn = turns_.next(passed); turn < parts_.size(); turn = turns_.next(passed)) {
    if (auto text = parts_[turn].policy->propose(seen)) return text;
    passed[turn] = true;
  }
  return std::nullopt;
}

}  // namespace cudal1
