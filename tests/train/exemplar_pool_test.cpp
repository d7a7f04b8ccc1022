// Exemplars of a training run; numbers are worked by hand.
#include "train/exemplar_pool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Members = std::vector<std::vector<std::size_t>>;

ExemplarPoolOptions options(ExemplarChoice choice, std::size_t count = 2) {
  ExemplarPoolOptions options;
  options.selection = {.choice = choice, .count = count, .bucket_width = 0.1, .temperature = 0.1, .islands = 2};
  return options;
}

ExemplarPool pool_of(const ExemplarPoolOptions& options, const std::vector<double>& scores) {
  ExemplarPool pool(options);
  for (std::size_t i = 0; i < scores.size(); ++i) pool.add("plan " + std::to_string(i), scores[i]);
  return pool;
}

TEST(ExemplarPool, DrawsTwoDistinctBucketsWithTheirProbabilities) {
  // Buckets [0, 0.1), [0.1, 0.2), [0.2, 0.3) with means 0.05, 0.15, 0.25: with tau = 0.1 the shares are 1 : e : e^2.
  const ExemplarPool pool = pool_of(options(ExemplarChoice::bucket), {0.25, 0.04, 0.15, 0.06});
  const std::map<std::size_t, std::size_t> bucket_of{{1, 0}, {3, 0}, {2, 1}, {0, 2}};
  const double e = std::exp(1.0), sum = 1 + e + e * e;
  const double p[] = {1 / sum, e / sum, e * e / sum};
  std::map<std::set<std::size_t>, int> drawn;
  Random random(4);
  constexpr int rounds = 20000;
  for (int i = 0; i < rounds; ++i) {
    std::set<std::size_t> buckets;
    for (const std::size_t plan : pool.draw(random).plans) buckets.insert(bucket_of.at(plan));
    ASSERT_EQ(buckets.size(), 2u) << "two plans of one bucket";
    ++drawn[buckets];
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      EXPECT_NEAR(drawn[(std::set{a, b})] / double{rounds}, p[a] * p[b] * (1 / (1 - p[a]) + 1 / (1 - p[b])), 0.012);
}

TEST(ExemplarPool, ShuffledScoresAreThoseOfThePromptAndTellNothing) {
  ExemplarPoolOptions shuffled = options(ExemplarChoice::random);
  const ExemplarPool measured = pool_of(shuffled, {0.0, 1.0, 2.0});
  shuffled.scores = ExemplarScores::shuffled;
  const ExemplarPool pool = pool_of(shuffled, {0.0, 1.0, 2.0});
  Random random(5);
  int own = 0;
  for (int i = 0; i < 4000; ++i) {
    const DrawnExemplars honest = measured.draw(random), drawn = pool.draw(random);
    ASSERT_EQ(honest.scored_as, honest.plans);
    ASSERT_EQ(std::multiset(drawn.scored_as.begin(), drawn.scored_as.end()),
              std::multiset(drawn.plans.begin(), drawn.plans.end()));
    own += drawn.scored_as == drawn.plans;
  }
  EXPECT_NEAR(own / 4000.0, 0.5, 0.03) << "of two scores, as often the right way round as not";
}

TEST(ExemplarPool, OrderInThePromptSaysNothingOfTheScore) {
  for (const ExemplarChoice choice : {ExemplarChoice::bucket, ExemplarChoice::island, ExemplarChoice::random}) {
    const ExemplarPool pool = pool_of(options(choice), {0.0, 3.0});
    Random random(8);
    int faster_first = 0;
    for (int i = 0; i < 4000; ++i) {
      const auto plans = pool.draw(random).plans;
      ASSERT_EQ(plans.size(), 2u);
      faster_first += plans.front() == 1;
    }
    EXPECT_NEAR(faster_first, 2000, 130) << to_string(choice);
  }
}

TEST(ExemplarPool, FewerBucketsThanAskedForAreFilledUpFromTheSame) {
  const ExemplarPool equal = pool_of(options(ExemplarChoice::bucket, 3), {0.5, 0.5, 0.5, 0.5});
  Random random(2);
  std::map<std::size_t, int> drawn;
  for (int i = 0; i < 4000; ++i) {
    const auto plans = equal.draw(random).plans;
    ASSERT_EQ(std::set(plans.begin(), plans.end()).size(), 3u);
    for (const std::size_t plan : plans) ++drawn[plan];
  }
  for (const auto& [plan, count] : drawn) EXPECT_NEAR(count, 3000, 120) << "equal scores, equal chances: " << plan;
}

TEST(ExemplarPool, OneProgramIsShownAloneAndNoneIsNone) {
  Random random(1);
  for (const ExemplarChoice choice : {ExemplarChoice::bucket, ExemplarChoice::island, ExemplarChoice::random}) {
    EXPECT_TRUE(ExemplarPool(options(choice)).draw(random).plans.empty());
    EXPECT_EQ(pool_of(options(choice), {0.7}).draw(random).plans, std::vector<std::size_t>{0});
  }
  EXPECT_TRUE(pool_of(options(ExemplarChoice::none), {0.1, 0.9}).draw(random).plans.empty());
  EXPECT_TRUE(pool_of(options(ExemplarChoice::bucket, 0), {0.1, 0.9}).draw(random).plans.empty());
}

TEST(ExemplarPool, APlanCountsOnceWithItsNewestScore) {
  ExemplarPool pool(options(ExemplarChoice::bucket));
  EXPECT_EQ(pool.add("a", 0.1), 0u);
  EXPECT_EQ(pool.add("b", 0.2), 1u);
  EXPECT_EQ(pool.add("a", 0.4), 0u);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.score(0), 0.4);
  EXPECT_EQ(pool.islands(), (Members{{0}, {1}}));
}

TEST(ExemplarPool, ScoresThatAreNotFiniteAreRefusedByName) {
  ExemplarPool pool(options(ExemplarChoice::bucket));
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double score : {std::nan(""), inf, -inf}) EXPECT_THROW(pool.add("a", score), Error);
  try {
    pool.add("4f1c", std::nan(""));
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("plan 4f1c is nan"), std::string::npos) << error.what();
  }
  EXPECT_EQ(pool.size(), 0u);
}

TEST(ExemplarPool, SenselessOptionsAndIslandsThatAreNotThereAreRefused) {
  ExemplarPoolOptions cold = options(ExemplarChoice::bucket), often = cold, desert = cold;
  cold.selection.temperature = 0.0;
  often.share_without = 1.5;
  desert.selection.islands = 0;
  for (const ExemplarPoolOptions& senseless : {cold, often, desert}) EXPECT_THROW(ExemplarPool{senseless}, Error);
  EXPECT_THROW(ExemplarPool(options(ExemplarChoice::island)).add("a", 1.0, 2), Error);
}

TEST(ExemplarPool, TheBestOfAnIslandMovesToTheNextAfterSomeAdditions) {
  ExemplarPoolOptions ring = options(ExemplarChoice::island);
  ring.selection.islands = 3;
  ring.migrate_every = 6;
  ring.reset_every = 0;
  // In turns: {0, 3}, {1, 4}, {2, 5}; the best are 3, 1 and 5.
  EXPECT_EQ(pool_of(ring, {0.1, 0.9, 0.2, 0.3, 0.4}).islands(), (Members{{0, 3}, {1, 4}, {2}}));
  EXPECT_EQ(pool_of(ring, {0.1, 0.9, 0.2, 0.3, 0.4, 0.5}).islands(), (Members{{0, 3, 5}, {1, 4, 3}, {2, 5, 1}}));
}

TEST(ExemplarPool, TheWorstIslandStartsAgainFromTheBestProgram) {
  ExemplarPoolOptions resetting = options(ExemplarChoice::island);
  resetting.migrate_every = 0;
  resetting.reset_every = 4;
  EXPECT_EQ(pool_of(resetting, {0.1, 0.4, 0.3, 0.2}).islands(), (Members{{1}, {1, 3}}));
  EXPECT_EQ(pool_of(resetting, {0.3, 0.3, 0.3, 0.3}).islands(), (Members{{0, 2}, {1, 3}})) << "none is worse";
}

TEST(ExemplarPool, WhatAPromptOfAnIslandBringsLivesThere) {
  ExemplarPoolOptions apart = options(ExemplarChoice::island);
  apart.migrate_every = apart.reset_every = 0;
  ExemplarPool pool(apart);
  for (int i = 0; i < 6; ++i) pool.add(std::to_string(i), 0.1 * i, i < 3 ? 0 : 1);
  Random random(3);
  std::set<std::size_t> seen;
  for (int i = 0; i < 200; ++i) {
    const DrawnExemplars drawn = pool.draw(random);
    ASSERT_TRUE(drawn.island.has_value());
    ASSERT_EQ(drawn.plans.size(), 2u);
    for (const std::size_t plan : drawn.plans) EXPECT_EQ(plan < 3 ? 0u : 1u, *drawn.island);
    seen.insert(*drawn.island);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(ExemplarPool, AShareOfPromptsShowsNone) {
  ExemplarPoolOptions sometimes = options(ExemplarChoice::random);
  sometimes.share_without = 0.25;
  const ExemplarPool pool = pool_of(sometimes, {0.1, 0.2, 0.3});
  Random random(6);
  int without = 0;
  for (int i = 0; i < 8000; ++i) without += pool.draw(random).plans.empty();
  EXPECT_NEAR(without, 2000, 160);
}

TEST(ExemplarPool, TheSameRandomnessDrawsTheSame) {
  for (const ExemplarChoice choice : {ExemplarChoice::bucket, ExemplarChoice::island, ExemplarChoice::random}) {
    const ExemplarPool pool = pool_of(options(choice), {0.1, 0.5, 0.3, 0.9, 0.2});
    Random one(5), other(5);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(pool.draw(one).plans, pool.draw(other).plans);
  }
}

}  // namespace
}  // namespace cudal1
