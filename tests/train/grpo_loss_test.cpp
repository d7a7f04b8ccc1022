// The loss of stage 3 and its slopes: values worked by hand, slopes beside differences.
#include "train/grpo_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace cudal1 {
namespace {

using Numbers = std::vector<float>;

//! Arrays that live as long as the spans over them.
struct Batch {
  Numbers now, old, reference, advantages, weights;
  std::vector<std::uint8_t> by_earlier_policy = {};
  GrpoTokens tokens() const { return {old, reference, advantages, weights, by_earlier_policy}; }
  GrpoLoss loss(const GrpoOptions& options = {}) const { return grpo_loss(now, tokens(), options).value(); }
};

//! One token that was drawn with probability 1/2 and has p now; the reference policy is the present one.
Batch one(double p, float advantage) {
  const auto now = static_cast<float>(std::log(p));
  return {{now}, {static_cast<float>(std::log(0.5))}, {now}, {advantage}, {1.0f}};
}

TEST(GrpoLoss, OneTokenByHand) {
  // rho = 0.6 / 0.5 = 1.2; reference / new = 1/2, so k3 = 1/2 + ln 2 - 1 = 0.193147.
  Batch batch = one(0.6, 1.0f);
  batch.reference = {static_cast<float>(std::log(0.3))};
  batch.weights = {0.5f};
  const GrpoLoss loss = batch.loss({.kl_weight = 0.1});
  EXPECT_NEAR(loss.policy_loss, -0.6, 1e-6);
  EXPECT_NEAR(loss.kl, 0.5 * 0.193147, 1e-6);
  EXPECT_NEAR(loss.loss, -0.6 + 0.1 * 0.0965736, 1e-6);
  EXPECT_NEAR(loss.slopes.at(0), 0.5 * (-1.2 + 0.1 * (1.0 - 0.5)), 1e-6);
  EXPECT_NEAR(loss.largest_ratio, 1.2, 1e-6);
  EXPECT_EQ(loss.clipped, 0);
}

TEST(GrpoLoss, TheFirstStepIsThePlainPolicyGradient) {
  // Where new = old = reference: loss -A, slope -A, no KL and no slope of it.
  const GrpoLoss loss = one(0.5, -0.75f).loss();
  EXPECT_EQ(loss.loss, 0.75);
  EXPECT_EQ(loss.slopes.at(0), 0.75f);
  EXPECT_EQ(loss.kl, 0.0);
  EXPECT_EQ(loss.largest_ratio, 1.0);
}

TEST(GrpoLoss, ClipsOnlyWhatGoesTooFarInTheDirectionOfTheAdvantage) {
  struct Case {
    double p;
    float advantage;
    double loss, slope;
  };
  // Ratios 1.5 and 0.5, bounds 0.8 and 1.28.
  for (const Case& expected :
       {Case{0.75, 1.0f, -1.28, 0.0}, Case{0.75, -1.0f, 1.5, 1.5}, Case{0.25, 1.0f, -0.5, -0.5},
        Case{0.25, -1.0f, 0.8, 0.0}, Case{0.62, 2.0f, -2.48, -2.48}, Case{0.41, -2.0f, 1.64, 1.64}}) {
    const GrpoLoss loss = one(expected.p, expected.advantage).loss();
    EXPECT_NEAR(loss.loss, expected.loss, 1e-5) << expected.p << " " << expected.advantage;
    EXPECT_NEAR(loss.slopes.at(0), expected.slope, 1e-5) << expected.p << " " << expected.advantage;
    EXPECT_EQ(loss.clipped, expected.slope == 0.0) << expected.p << " " << expected.advantage;
  }
}

TEST(GrpoLoss, AtTheBoundTheSlopeIsStillThere) {
  // Bounds of 1 on both sides: a ratio of 1 lies on both.
  for (const float advantage : {1.0f, -1.0f}) {
    const GrpoLoss loss = one(0.5, advantage).loss({.clip_low = 0.0, .clip_high = 0.0});
    EXPECT_EQ(loss.slopes.at(0), -advantage);
    EXPECT_EQ(loss.clipped, 0);
  }
}

TEST(GrpoLoss, OfAnEarlierPolicyALargeRatioCountsAsThreeWhereTheAdvantageIsBelowZero) {
  struct Case {
    double p;  // it was 1/8
    float advantage;
    bool by_earlier_policy;
    double loss, slope;
  };
  for (const Case& expected : {
           Case{0.5, -0.5f, true, 1.5, 0.0},       // ratio 4, bounded at 3: 3 * 0.5
           Case{0.5, -0.5f, false, 2.0, 2.0},      // 4 * 0.5
           Case{0.3125, -0.5f, true, 1.25, 1.25},  // 2.5 * 0.5
           Case{0.0625, -0.5f, true, 0.4, 0.0},    // ratio 0.5, bounded at 0.8: 0.8 * 0.5
           Case{0.5, 0.5f, true, -0.64, 0.0},      // bounded at 1.28
       }) {
    Batch batch = one(expected.p, expected.advantage);
    batch.old = {std::log(0.125f)};
    batch.by_earlier_policy = {expected.by_earlier_policy};
    const GrpoLoss loss = batch.loss();
    EXPECT_NEAR(loss.loss, expected.loss, 1e-5) << expected.p << " " << expected.advantage;
    EXPECT_NEAR(loss.slopes.at(0), expected.slope, 1e-5) << expected.p << " " << expected.advantage;
    EXPECT_EQ(loss.clipped, expected.slope == 0.0) << expected.p << " " << expected.advantage;
    EXPECT_NEAR(loss.largest_ratio, expected.p / 0.125, 1e-5) << "as it is: whoever watches is to see it";
  }
}

TEST(GrpoLoss, WithoutAdvantageOnlyTheReferencePolicyPulls) {
  Batch batch = one(0.75, 0.0f);
  batch.reference = {static_cast<float>(std::log(0.25))};
  const GrpoLoss loss = batch.loss({.kl_weight = 1.0});
  EXPECT_NEAR(loss.loss, 1.0 / 3.0 + std::log(3.0) - 1.0, 1e-6);
  EXPECT_NEAR(loss.slopes.at(0), 2.0 / 3.0, 1e-6) << "down, to where the reference is";
  EXPECT_EQ(loss.clipped, 0);
}

//! Ratios on all sides of the bounds, none nearer to them than the steps of the differences. Fractions of 2^-6, so that
//! moving by 2^-8 is exact.
Batch varied() {
  Batch batch;
  for (int i = 0; i < 48; ++i) {
    const float old = -0.25f - static_cast<float>(i % 5) * 0.375f;
    batch.old.push_back(old);
    batch.now.push_back(old + static_cast<float>(i % 7 - 3) * 0.171875f);
    batch.reference.push_back(old + static_cast<float>(i % 3 - 1) * 0.5f);
    batch.advantages.push_back(static_cast<float>(i % 4) - 1.5f);
    batch.weights.push_back(i % 2 == 0 ? 0.25f : 0.5f);
  }
  return batch;
}

TEST(GrpoLoss, SlopesAreThoseOfTheLoss) {
  const GrpoOptions options{.kl_weight = 0.3};
  const Batch batch = varied();
  const GrpoLoss loss = batch.loss(options);
  EXPECT_GT(loss.clipped, 5);
  EXPECT_LT(loss.clipped, 40);
  constexpr float step = 1.0f / 256;
  for (std::size_t i = 0; i < batch.now.size(); ++i) {
    Batch up = batch, down = batch;
    up.now[i] += step;
    down.now[i] -= step;
    const double difference = (up.loss(options).loss - down.loss(options).loss) / (2.0 * step);
    EXPECT_NEAR(loss.slopes[i], difference, 1e-5) << "token " << i;
  }
}

//! Every other token by an earlier policy, with ratios beyond three.
Batch half_by_earlier_policy() {
  Batch batch = varied();
  for (std::size_t i = 0; i < batch.now.size(); ++i) {
    batch.now[i] = batch.old[i] + (static_cast<float>(i % 7) - 3.0f) * 0.5f;
    batch.by_earlier_policy.push_back(i / 4 % 2 == 0 ? 0 : 1);
  }
  return batch;
}

TEST(GrpoLoss, SlopesAreThoseOfTheLossWhereAnEarlierPolicySampled) {
  const Batch batch = half_by_earlier_policy();
  const GrpoLoss loss = batch.loss();
  Batch unmarked = batch;
  unmarked.by_earlier_policy.clear();
  EXPECT_GT(loss.clipped, unmarked.loss().clipped);
  constexpr float step = 1.0f / 256;
  for (std::size_t i = 0; i < batch.now.size(); ++i) {
    Batch up = batch, down = batch;
    up.now[i] += step;
    down.now[i] -= step;
    const double difference = (up.loss().loss - down.loss().loss) / (2.0 * step);
    EXPECT_NEAR(loss.slopes[i], difference, 1e-4) << "token " << i;
  }
}

TEST(GrpoLoss, WhereNoEarlierPolicySampledNothingIsDifferent) {
  Batch batch = half_by_earlier_policy();
  batch.by_earlier_policy.assign(batch.now.size(), 0);
  Batch unmarked = batch;
  unmarked.by_earlier_policy.clear();
  EXPECT_EQ(batch.loss().loss, unmarked.loss().loss);
  EXPECT_EQ(batch.loss().slopes, unmarked.loss().slopes);
  EXPECT_EQ(batch.loss().clipped, unmarked.loss().clipped);
}

TEST(GrpoLoss, OfPartsAddsUp) {
  const Batch batch = half_by_earlier_policy();
  const GrpoLoss whole = batch.loss();
  double loss = 0.0, kl = 0.0;
  std::int64_t clipped = 0;
  Numbers slopes;
  for (std::size_t first = 0; first < batch.now.size(); first += 16) {
    const GrpoLoss part =
        grpo_loss(std::span(batch.now).subspan(first, 16), batch.tokens().part(first, 16), {}).value();
    loss += part.loss;
    kl += part.kl;
    clipped += part.clipped;
    slopes.insert(slopes.end(), part.slopes.begin(), part.slopes.end());
  }
  EXPECT_NEAR(loss, whole.loss, 1e-12);
  EXPECT_NEAR(kl, whole.kl, 1e-12);
  EXPECT_EQ(clipped, whole.clipped);
  EXPECT_EQ(slopes, whole.slopes);
}

TEST(GrpoLoss, DivergenceIsNeverBelowZeroAndKeepsItsDigits) {
  // k3 is about d^2 / 2: with d = 2^-12 rounding exp(d) to 1 + d would leave nothing.
  Batch batch = one(0.5, 0.0f);
  batch.now = {-0.5f};
  batch.reference = {-0.5f + 0x1p-12f};
  EXPECT_NEAR(batch.loss().kl, 0.5 * 0x1p-24, 1e-11);
  for (const float apart : {-5.0f, -0.1f, 0.1f, 5.0f}) {
    batch.reference = {-0.5f + apart};
    EXPECT_GT(batch.loss().kl, 0.0);
  }
}

TEST(GrpoLoss, NamesWhatIsNotFiniteAndItsToken) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto message = [](const Batch& batch) {
    const auto loss = grpo_loss(batch.now, batch.tokens(), {});
    return loss.ok() ? "fine" : loss.failure().message;
  };
  Batch batch = varied();
  EXPECT_EQ(message(batch), "fine");
  batch.now[3] = nan;
  EXPECT_EQ(message(batch), "the log-probability of token 3 is nan");
  batch = varied();
  batch.old[2] = -INFINITY;
  EXPECT_EQ(message(batch), "the sampling policy's log-probability of token 2 is -inf");
  batch = varied();
  batch.reference[1] = nan;
  EXPECT_EQ(message(batch), "the reference policy's log-probability of token 1 is nan");
  batch = varied();
  batch.advantages[0] = nan;
  EXPECT_EQ(message(batch), "the advantage of token 0 is nan");
  batch = varied();
  batch.weights[7] = nan;
  EXPECT_EQ(message(batch), "the weight of token 7 is nan");
  batch = varied();
  batch.old[4] = -1000.0f;
  EXPECT_EQ(message(batch), "the ratio of token 4 is inf");
  batch = varied();
  batch.reference[5] = batch.now[5] + 1000.0f;
  EXPECT_EQ(message(batch), "the KL of token 5 is inf");
}

TEST(GrpoLoss, ArraysOfOtherLengthsAndSenselessOptionsAreRefused) {
  Batch batch = varied();
  batch.weights.pop_back();
  EXPECT_THROW(batch.loss(), Error);
  batch = half_by_earlier_policy();
  batch.by_earlier_policy.pop_back();
  EXPECT_THROW(batch.loss(), Error);
  const double nan = std::nan("");
  for (const GrpoOptions& senseless :
       {GrpoOptions{.clip_low = 1.0}, GrpoOptions{.clip_low = -0.1}, GrpoOptions{.clip_high = nan},
        GrpoOptions{.clip_high = -0.1}, GrpoOptions{.kl_weight = -1.0}, GrpoOptions{.kl_weight = nan}})
    EXPECT_THROW(check(senseless), Error);
}

TEST(GrpoTokenWeights, PerTokenAllFreeTokensWeighTheSame) {
  const std::vector<FreeTokens> samples{{0, 1, 1}, {1, 0, 1, 1}};
  const float fifth = 0.2f;
  EXPECT_EQ(grpo_token_weights(samples, LengthNormalisation::per_token),
            (std::vector<Numbers>{{0, fifth, fifth}, {fifth, 0, fifth, fifth}}));
}

TEST(GrpoTokenWeights, PerSampleAllAnswersWeighTheSame) {
  const std::vector<FreeTokens> samples{{0, 1, 1}, {1, 1, 1, 1}};
  EXPECT_EQ(grpo_token_weights(samples, LengthNormalisation::per_sample),
            (std::vector<Numbers>{{0, 0.25f, 0.25f}, {0.125f, 0.125f, 0.125f, 0.125f}}));
}

TEST(GrpoTokenWeights, AnAnswerThatTheGrammarWroteHasNoSay) {
  const std::vector<FreeTokens> samples{{0, 0}, {1, 1}};
  EXPECT_EQ(grpo_token_weights(samples, LengthNormalisation::per_token), (std::vector<Numbers>{{0, 0}, {0.5f, 0.5f}}));
  EXPECT_EQ(grpo_token_weights(samples, LengthNormalisation::per_sample),
            (std::vector<Numbers>{{0, 0}, {0.25f, 0.25f}}));
  EXPECT_TRUE(grpo_token_weights({}, LengthNormalisation::per_token).empty());
}

TEST(LengthNormalisation, HasANameAndIsFoundByIt) {
  for (const LengthNormalisation one : {LengthNormalisation::per_token, LengthNormalisation::per_sample})
    EXPECT_EQ(length_normalisation_from_string(to_string(one)), one);
  EXPECT_FALSE(length_normalisation_from_string("none"));
}

}  // namespace
}  // namespace cudal1
