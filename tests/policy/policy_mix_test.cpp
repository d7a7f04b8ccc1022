#include "policy/policy_mix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/result.hpp"

namespace cudal1 {
namespace {

const std::vector<std::string> names{"local", "remote", "search"};

class Scripted : public Policy {
 public:
  Scripted(std::string name, int programs) : name_(std::move(name)), left_(programs) {}
  std::optional<std::string> propose(const std::vector<ScoredProgram>&) override {
    return left_-- > 0 ? std::optional(name_) : std::nullopt;
  }

 private:
  std::string name_;
  int left_;
};

PolicyMix mix_of(int first_weight, int first_programs, int second_weight, int second_programs) {
  std::vector<PolicyMix::Part> parts;
  parts.push_back({std::make_unique<Scripted>("a", first_programs), first_weight});
  parts.push_back({std::make_unique<Scripted>("b", second_programs), second_weight});
  return PolicyMix(std::move(parts));
}

std::string proposed(PolicyMix& mix, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += mix.propose({}).value_or("-");
  return all;
}

std::string refusal(std::string_view text) {
  try {
    parse_policy_mix(text, names);
  } catch (const UsageError& problem) {
    return problem.what();
  }
  return {};
}

TEST(PolicyMixText, NamesHaveWeightsOfOneUnlessToldOtherwise) {
  EXPECT_EQ(parse_policy_mix("search", names), (std::vector<PolicyShare>{{"search", 1}}));
  EXPECT_EQ(parse_policy_mix("local:6,search:2", names), (std::vector<PolicyShare>{{"local", 6}, {"search", 2}}));
  EXPECT_EQ(parse_policy_mix("remote,search:3", names), (std::vector<PolicyShare>{{"remote", 1}, {"search", 3}}));
}

TEST(PolicyMixText, WhatIsWrongIsNamed) {
  EXPECT_NE(refusal("lokal").find("there is no policy 'lokal'; there are local, remote, search"), std::string::npos);
  EXPECT_NE(refusal("search:0").find("'0' is no weight"), std::string::npos);
  EXPECT_NE(refusal("search:2x").find("'2x' is no weight"), std::string::npos);
  EXPECT_NE(refusal("search:").find("'' is no weight"), std::string::npos);
  EXPECT_NE(refusal("search,search").find("'search' comes twice"), std::string::npos);
  EXPECT_NE(refusal("search,").find("there is no policy ''"), std::string::npos);
  EXPECT_NE(refusal("").find("there is no policy ''"), std::string::npos);
}

TEST(PolicyMix, TurnsAreSpreadByWeight) {
  PolicyMix mix = mix_of(3, 100, 1, 100);
  const std::string eight = proposed(mix, 8);
  EXPECT_EQ(std::ranges::count(eight, 'a'), 6);
  EXPECT_EQ(eight.substr(0, 4), eight.substr(4));
  EXPECT_EQ(std::ranges::count(eight.substr(0, 4), 'b'), 1);
}

TEST(PolicyMix, SamplesAreDividedAsTurnsAre) {
  const auto turns = first_turns({{"local", 3}, {"search", 1}}, 8);
  ASSERT_EQ(turns.size(), 8u);
  EXPECT_EQ(std::ranges::count(turns, 1u), 2);
  EXPECT_EQ(first_turns({{"local", 3}, {"search", 1}}, 4), std::vector<std::size_t>(turns.begin(), turns.begin() + 4))
      << "more samples leave the turns of the first ones as they are";
}

TEST(PolicyMix, TheFirstMayOpenAndOthersCatchUp) {
  std::vector<PolicyMix::Part> parts;
  parts.push_back({std::make_unique<Scripted>("a", 100), 1});
  parts.push_back({std::make_unique<Scripted>("b", 100), 1});
  PolicyMix mix(std::move(parts), 3);
  EXPECT_EQ(proposed(mix, 10), "aaabbbabab");
}

TEST(PolicyMix, WhoCannotFillAnOpeningLeavesItToOthers) {
  std::vector<PolicyMix::Part> parts;
  parts.push_back({std::make_unique<Scripted>("a", 1), 1});
  parts.push_back({std::make_unique<Scripted>("b", 100), 1});
  PolicyMix mix(std::move(parts), 3);
  EXPECT_EQ(proposed(mix, 4), "abbb");
}

TEST(PolicyMix, WhoHasNothingToProposeLeavesTheTurnToOthers) {
  PolicyMix mix = mix_of(1, 2, 1, 100);
  EXPECT_EQ(proposed(mix, 6), "ababbb");
}

TEST(PolicyMix, NobodyHasAnything) {
  PolicyMix mix = mix_of(1, 1, 1, 0);
  EXPECT_EQ(proposed(mix, 2), "a-");
}

}  // namespace
}  // namespace cudal1
