// Exemplars are drawn as the paper says; numbers are worked by hand.
#include "policy/prompt/exemplar_selection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Scored = std::vector<ScoredProgram>;

//! Three buckets of width ln 2: [1, 2) with 1.0 and 1.5, [2, 4) with 3.0, [4, 8) with 4.0 and 4.0.
Scored sample() {
  return {{"a", 1.0, 0}, {"b", 4.0, 0}, {"c", 3.0, 0}, {"wrong", 0.0, 0}, {"d", 1.5, 0}, {"e", 4.0, 0}};
}

ExemplarOptions options(ExemplarChoice choice, std::size_t count = 2) {
  return {
      .choice = choice, .count = count, .bucket_width = std::log(2.0) * (1 - 1e-9), .temperature = 1.0, .islands = 2};
}

TEST(ScoreBuckets, HoldProgramsOfLikeLogSpeedUp) {
  const auto buckets = score_buckets(sample(), options(ExemplarChoice::bucket).bucket_width);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].members, (std::vector<std::size_t>{0, 4}));
  EXPECT_EQ(buckets[1].members, (std::vector<std::size_t>{2}));
  EXPECT_EQ(buckets[2].members, (std::vector<std::size_t>{1, 5}));
  EXPECT_NEAR(buckets[0].mean, std::log(1.5) / 2, 1e-12);
  EXPECT_NEAR(buckets[2].mean, std::log(4.0), 1e-12);
}

TEST(ScoreBuckets, SlowdownsHaveBucketsBelowZero) {
  const auto buckets = score_buckets({{"a", 0.95, 0}, {"b", 1.05, 0}}, 0.1);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].number, -1);
  EXPECT_EQ(buckets[1].number, 0);
}

TEST(BucketProbabilities, AreProportionalToTheExponentialOfMeans) {
  // With tau = 1, exp(ln s) = s: 1.5^(1/2) = 1.2247, 3 and 4 of 8.2247.
  const auto buckets = score_buckets(sample(), options(ExemplarChoice::bucket).bucket_width);
  const auto warm = bucket_probabilities(buckets, 1.0);
  ASSERT_EQ(warm.size(), 3u);
  EXPECT_NEAR(warm[0], 1.224745 / 8.224745, 1e-6);
  EXPECT_NEAR(warm[1], 3.0 / 8.224745, 1e-6);
  EXPECT_NEAR(warm[2], 4.0 / 8.224745, 1e-6);
  // With tau = 1/2 they are the squares: 1.5, 9 and 16 of 26.5.
  const auto cold = bucket_probabilities(buckets, 0.5);
  EXPECT_NEAR(cold[0], 1.5 / 26.5, 1e-9);
  EXPECT_NEAR(cold[1], 9.0 / 26.5, 1e-9);
  EXPECT_NEAR(cold[2], 16.0 / 26.5, 1e-9);
}

TEST(BucketProbabilities, DoNotOverflow) {
  const auto shares = bucket_probabilities({{0, 0.0, {0}}, {1, 5000.0, {1}}}, 0.001);
  EXPECT_EQ(shares, (std::vector<double>{0.0, 1.0}));
}

TEST(SelectExemplars, DrawsTwoDistinctBucketsWithTheirProbabilities) {
  const Scored programs = sample();
  Random random(7);
  std::map<std::set<std::size_t>, int> buckets_drawn;
  std::map<std::size_t, int> drawn;
  constexpr int rounds = 20000;
  const std::map<std::size_t, std::size_t> bucket_of{{0, 0}, {4, 0}, {2, 1}, {1, 2}, {5, 2}};
  for (int i = 0; i < rounds; ++i) {
    const auto chosen = select_exemplars(programs, options(ExemplarChoice::bucket), random);
    ASSERT_EQ(chosen.size(), 2u);
    std::set<std::size_t> buckets;
    for (const std::size_t index : chosen) {
      buckets.insert(bucket_of.at(index));
      ++drawn[index];
    }
    ASSERT_EQ(buckets.size(), 2u) << "two programs of one bucket";
    ++buckets_drawn[buckets];
  }
  // Without putting back: P{0,1} = p0 p1 / (1 - p0) + p1 p0 / (1 - p1), and so on, p = (1.2247, 3, 4) / 8.2247.
  const double p[] = {1.224745 / 8.224745, 3.0 / 8.224745, 4.0 / 8.224745};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b) {
      const double expected = p[a] * p[b] * (1 / (1 - p[a]) + 1 / (1 - p[b]));
      const std::set<std::size_t> pair{a, b};
      EXPECT_NEAR(buckets_drawn[pair] / double{rounds}, expected, 0.012) << a << b;
    }
  EXPECT_NEAR(drawn[1], drawn[5], 500) << "uniform within a bucket";
}

TEST(SelectExemplars, ShowsTheSlowestFirst) {
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const auto chosen = select_exemplars(sample(), options(ExemplarChoice::bucket, 3), random);
    ASSERT_EQ(chosen.size(), 3u);
    EXPECT_LE(sample()[chosen[0]].reward, sample()[chosen[1]].reward);
    EXPECT_LE(sample()[chosen[1]].reward, sample()[chosen[2]].reward);
  }
}

TEST(SelectExemplars, NeverTheSameProgramTwiceAndNeverAWrongOne) {
  Scored programs = sample();
  programs.push_back({"b", 4.1, 0});      // measured again
  programs.push_back({"  b\n", 7.0, 0});  // the same but for white space
  programs.push_back({"a", 0.0, 0});      // found out to be wrong since
  for (const ExemplarChoice choice : {ExemplarChoice::bucket, ExemplarChoice::island, ExemplarChoice::random}) {
    Random random(3);
    for (int i = 0; i < 300; ++i) {
      const auto chosen = select_exemplars(programs, options(choice, 10), random);
      ASSERT_EQ(chosen.size(), 4u) << "b, c, d, e";
      const std::set<std::size_t> different(chosen.begin(), chosen.end());
      EXPECT_EQ(different, (std::set<std::size_t>{2, 4, 5, 7}));
    }
  }
}

TEST(SelectExemplars, FillsUpFromTheSameBucketWhereThereIsOnlyOne) {
  Random random(5);
  EXPECT_EQ(select_exemplars({{"a", 1.2, 0}, {"b", 1.21, 0}}, options(ExemplarChoice::bucket), random).size(), 2u);
  EXPECT_EQ(select_exemplars({{"a", 1.2, 0}}, options(ExemplarChoice::bucket), random).size(), 1u);
  EXPECT_TRUE(select_exemplars({}, options(ExemplarChoice::bucket), random).empty());
}

TEST(SelectExemplars, RandomDrawsEveryProgramAlike) {
  Random random(11);
  std::map<std::size_t, int> drawn;
  constexpr int rounds = 10000;
  for (int i = 0; i < rounds; ++i)
    for (const std::size_t index : select_exemplars(sample(), options(ExemplarChoice::random), random)) ++drawn[index];
  ASSERT_EQ(drawn.size(), 5u);
  for (const auto& [index, count] : drawn) EXPECT_NEAR(count / double{rounds}, 2.0 / 5.0, 0.02) << index;
}

TEST(SelectExemplars, OneIslandAtATime) {
  Scored programs;
  for (int i = 0; i < 40; ++i) programs.push_back({"program " + std::to_string(i), 1.0 + i * 0.01, 0});
  Random random(2);
  std::map<std::size_t, std::set<std::size_t>> met;  // by program: with whom it was drawn
  for (int i = 0; i < 4000; ++i) {
    const auto chosen = select_exemplars(programs, options(ExemplarChoice::island), random);
    ASSERT_EQ(chosen.size(), 2u);
    met[chosen[0]].insert(chosen[1]);
    met[chosen[1]].insert(chosen[0]);
  }
  std::set<std::size_t> island{0}, waiting{0};
  while (!waiting.empty()) {
    const std::size_t next = *waiting.begin();
    waiting.erase(waiting.begin());
    for (const std::size_t other : met[next])
      if (island.insert(other).second) waiting.insert(other);
  }
  EXPECT_GT(island.size(), 5u);
  EXPECT_LT(island.size(), 35u) << "islands have met";
}

TEST(SelectExemplars, NoneIsNone) {
  Random random(1);
  EXPECT_TRUE(select_exemplars(sample(), options(ExemplarChoice::none), random).empty());
  EXPECT_TRUE(select_exemplars(sample(), options(ExemplarChoice::bucket, 0), random).empty());
}

TEST(SelectExemplars, TheSameRandomnessGivesTheSameProgramsAndSenselessOptionsAreRefused) {
  Random one(9), other(9);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(select_exemplars(sample(), options(ExemplarChoice::bucket), one),
              select_exemplars(sample(), options(ExemplarChoice::bucket), other));
  ExemplarOptions senseless = options(ExemplarChoice::bucket);
  senseless.temperature = 0.0;
  EXPECT_THROW(select_exemplars(sample(), senseless, one), Error);
}

TEST(ExemplarChoice, HasANameAndIsFoundByIt) {
  for (const ExemplarChoice choice :
       {ExemplarChoice::bucket, ExemplarChoice::island, ExemplarChoice::random, ExemplarChoice::none})
    EXPECT_EQ(exemplar_choice_from_string(to_string(choice)), choice);
  EXPECT_FALSE(exemplar_choice_from_string("best"));
}

}  // namespace
}  // namespace cudal1
