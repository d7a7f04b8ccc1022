#include "model/sampling/token_sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/result.hpp"

namespace cudal1 {
namespace {

// Probabilities 0.5, 0.25, 0.125, 0.0625, 0.0625, not in order.
const std::vector<float> logits = {std::log(0.125F), std::log(0.5F), std::log(0.0625F), std::log(0.25F),
                                   std::log(0.0625F)};

AllowedTokens allowing(std::initializer_list<std::size_t> ids) {
  AllowedTokens allowed(static_cast<std::int64_t>(logits.size()));
  for (const std::size_t id : ids) allowed.allow(id);
  return allowed;
}

//! How often each token comes in many draws, and that its log-probability is that of the share it should have.
void expect_shares(const SamplingParameters& parameters, const std::map<std::int32_t, double>& shares,
                   const AllowedTokens* allowed = nullptr) {
  constexpr int draws = 40000;
  double of_policy = 0.0;  // what the allowed tokens have together
  for (std::size_t id = 0; id < logits.size(); ++id)
    if (!allowed || allowed->allows(id)) of_policy += std::exp(logits[id]);
  std::map<std::int32_t, int> counts;
  for (int position = 0; position < draws; ++position) {
    const DrawnToken token = draw_token(logits, {parameters, 17, position, allowed});
    ++counts[token.id];
    ASSERT_TRUE(shares.contains(token.id)) << "token " << token.id;
    ASSERT_NEAR(token.sampled_log_probability, std::log(shares.at(token.id)), 1e-5);
    ASSERT_NEAR(token.policy_log_probability, logits[static_cast<std::size_t>(token.id)] - std::log(of_policy), 1e-5);
  }
  for (const auto& [id, share] : shares) {
    const double deviation = std::sqrt(share * (1 - share) / draws);
    EXPECT_NEAR(static_cast<double>(counts[id]) / draws, share, 4.5 * deviation + 1e-12) << "token " << id;
  }
}

TEST(TokenSampler, PlainSamplingIsThePolicy) {
  expect_shares({}, {{0, 0.125}, {1, 0.5}, {2, 0.0625}, {3, 0.25}, {4, 0.0625}});
}

TEST(TokenSampler, TemperatureRaisesProbabilitiesToItsInverse) {
  // squares: 1/64, 1/4, 1/256, 1/16, 1/256 of 86/256
  expect_shares({.temperature = 0.5F}, {{0, 4 / 86.0}, {1, 64 / 86.0}, {2, 1 / 86.0}, {3, 16 / 86.0}, {4, 1 / 86.0}});
}

TEST(TokenSampler, TopKKeepsTheMostProbable) {
  expect_shares({.top_k = 2}, {{1, 2 / 3.0}, {3, 1 / 3.0}});
  expect_shares({.top_k = 4}, {{0, 2 / 15.0}, {1, 8 / 15.0}, {2, 1 / 15.0}, {3, 4 / 15.0}});  // of equals the first
}

TEST(TokenSampler, TopPKeepsTheFewestThatReachIt) {
  expect_shares({.top_p = 0.7F}, {{1, 2 / 3.0}, {3, 1 / 3.0}});
  expect_shares({.top_p = 0.76F}, {{0, 1 / 7.0}, {1, 4 / 7.0}, {3, 2 / 7.0}});
  expect_shares({.top_p = 0.01F}, {{1, 1.0}});
}

TEST(TokenSampler, MinPKeepsWhatIsNearTheMostProbable) {
  expect_shares({.min_p = 0.24F}, {{0, 1 / 7.0}, {1, 4 / 7.0}, {3, 2 / 7.0}});
  expect_shares({.min_p = 0.6F}, {{1, 1.0}});
}

TEST(TokenSampler, FiltersWorkOnWhatTheFormerLeft) {
  // top_k leaves 4/7, 2/7, 1/7; three quarters of that are reached by two
  expect_shares({.top_k = 3, .top_p = 0.75F}, {{1, 2 / 3.0}, {3, 1 / 3.0}});
}

TEST(TokenSampler, TemperatureZeroTakesTheMostProbable) { expect_shares({.temperature = 0.0F}, {{1, 1.0}}); }

TEST(TokenSampler, AMaskLeavesAllowedTokensOnlyAndMarksAForcedOne) {
  const AllowedTokens some = allowing({0, 2}), one = allowing({2}), none = allowing({});
  expect_shares({}, {{0, 2 / 3.0}, {2, 1 / 3.0}}, &some);
  expect_shares({.temperature = 0.0F}, {{0, 1.0}}, &some);
  expect_shares({.temperature = 0.5F}, {{0, 4 / 5.0}, {2, 1 / 5.0}}, &some);
  EXPECT_FALSE(draw_token(logits, {{}, 1, 1, &some}).forced);
  const DrawnToken forced = draw_token(logits, {{}, 1, 1, &one});
  EXPECT_TRUE(forced.forced);
  EXPECT_EQ(forced.id, 2);
  EXPECT_EQ(forced.sampled_log_probability, 0.0F);
  EXPECT_EQ(forced.policy_log_probability, 0.0F) << "there was no choice";
  EXPECT_THROW(draw_token(logits, {{}, 1, 1, &none}), Error);
}

TEST(TokenSampler, ALongTailIsCutWhereTopPSays) {
  std::vector<float> flat(5000);  // no prefix that is sorted first holds enough
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = static_cast<float>(i % 2) * 1e-3F;
  std::map<bool, int> odd;
  for (int position = 0; position < 4000; ++position)
    ++odd[draw_token(flat, {{.top_p = 0.5F}, 3, position}).id % 2 == 1];
  EXPECT_EQ(odd[false], 0);  // the odd half is more probable: it has 0.50025 together
  const DrawnToken token = draw_token(flat, {{.top_p = 0.5F}, 3, 1});
  EXPECT_NEAR(token.sampled_log_probability, -std::log(2499.0), 1e-3);
}

TEST(TokenSampler, ChanceDependsOnSeedAndPositionOnly) {
  EXPECT_EQ(uniform_at(5, 9), uniform_at(5, 9));
  double sum = 0.0, product = 0.0;
  for (std::int64_t i = 0; i < 20000; ++i) {
    const double here = uniform_at(7, i), next = uniform_at(7, i + 1), other_seed = uniform_at(8, i);
    ASSERT_TRUE(here >= 0.0 && here < 1.0);
    ASSERT_NE(here, next);
    ASSERT_NE(here, other_seed);
    sum += here;
    product += (here - 0.5) * (next - 0.5) + (here - 0.5) * (other_seed - 0.5);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
  EXPECT_NEAR(product / 20000, 0.0, 0.004);
}

TEST(TokenSampler, ScoresThatAreNoNumbersAndSenselessParametersAreRefused) {
  EXPECT_THROW(draw_token(std::vector<float>{0.0F, std::numeric_limits<float>::quiet_NaN()}, {}), Error);
  EXPECT_THROW(check_parameters({.temperature = -1.0F}), Error);
  EXPECT_THROW(check_parameters({.top_k = -1}), Error);
  EXPECT_THROW(check_parameters({.top_p = 0.0F}), Error);
  EXPECT_THROW(check_parameters({.min_p = 1.5F}), Error);
  EXPECT_NO_THROW(check_parameters({.temperature = 0.0F, .top_k = 5, .top_p = 1.0F, .min_p = 0.1F}));
}

}  // namespace
}  // namespace cudal1
