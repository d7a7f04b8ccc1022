#include "policy/policy_mix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

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

}  // namespace

std::vector<PolicyShare> parse_policy_mix(std::string_view text, const std::vector<std::string>& known) {
  std::vector<PolicyShare> shares;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    PolicyShare share = parse_share(text.substr(begin, end - begin), text, known);
    if (std::ranges::find(shares, share.name, &PolicyShare::name) != shares.end())
      throw UsageError(fmt::format("--policy {}: '{}' comes twice", text, share.name));
    shares.push_back(std::move(share));
    begin = end + 1;
  }
  return shares;
}

PolicyMix::PolicyMix(std::vector<Part> parts) : parts_(std::move(parts)), credits_(parts_.size(), 0) {}

//! Everybody earns their weight, the richest pays all of it: turns are as even as whole numbers allow.
std::size_t PolicyMix::next_turn(const std::vector<bool>& passed) {
  std::size_t richest = parts_.size();
  int total = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (passed[i]) continue;
    credits_[i] += parts_[i].weight;
    total += parts_[i].weight;
    if (richest == parts_.size() || credits_[i] > credits_[richest]) richest = i;
  }
  if (richest < parts_.size()) credits_[richest] -= total;
  return richest;
}

std::optional<std::string> PolicyMix::propose(const std::vector<ScoredProgram>& seen) {
  std::vector<bool> passed(parts_.size(), false);
  for (std::size_t turn = next_turn(passed); turn < parts_.size(); turn = next_turn(passed)) {
    if (auto text = parts_[turn].policy->propose(seen)) return text;
    passed[turn] = true;
  }
  return std::nullopt;
}

}  // namespace cudal1
