#include "device/vgpu/model/model_fit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "made_up_kernels.hpp"

namespace cudal1::vgpu {
namespace {

const GpuProfile h200 = find_profile("h200");

//! A family has its own mix of work, its variants different sizes of it.
MadeUpKernel made_up_variant(std::uint64_t family, int variant) {
  Random random(1000 + family);
  MadeUpKernel kernel = made_up_copy(static_cast<std::uint32_t>(100 + random.below(8000)) << (variant / 2),
                                     (1 + random.below(64)) << (19 + variant));
  const std::uint64_t unit = kernel.counters.global_loads.requests;
  kernel.instructions(Pipe::single) += unit * random.below(200);
  kernel.instructions(Pipe::integer) += unit * random.below(100);
  kernel.instructions(Pipe::special) += unit * random.below(30);
  kernel.counters.shared_requests = unit * random.below(20);
  kernel.counters.shared_passes = kernel.counters.shared_requests * (1 + random.below(4));
  kernel.counters.barriers = kernel.shape.blocks() * 8 * random.below(40);
  kernel.counters.global_atomics.sectors = random.below(3) == 0 ? unit : 0;
  kernel.shape.traits.registers = static_cast<std::uint32_t>(24 + random.below(140));
  kernel.shape.traits.parallelism = {1.0 + static_cast<double>(random.below(8)), 2, 2};
  return kernel;
}

//! A GPU that differs from what the program believes.
ModelParameters truth() {
  ModelParameters model = load_model();
  model.soft_maximum_exponent = 2.5;
  model.pipe_efficiency = 0.6;
  model.l2_efficiency = 0.5;
  model.latency_weight = 2;
  model.atomics_per_clock = 16;
  return model;
}

std::vector<Observation> synthetic(double noise) {
  Random random(7);
  std::vector<Observation> observations;
  for (std::uint64_t family = 0; family < 24; ++family)
    for (int variant = 0; variant < 5; ++variant) {
      const MadeUpKernel kernel = made_up_variant(family, variant);
      Observation& made = observations.emplace_back(Observation{
          fmt::format("family_{}", family), fmt::format("size_{}", variant), kernel.shape, kernel.counters, 0});
      made.measured_ms = predicted_ms(h200, truth(), made) * std::exp(noise * (2 * random.uniform() - 1));
    }
  return observations;
}

TEST(ModelFit, MeetsTimesOfFamiliesItHasNotSeen) {
  const Halves halves = split(synthetic(0.05));
  ASSERT_GE(halves.fitted.size(), 40u);
  ASSERT_GE(halves.unseen.size(), 40u);
  const ModelParameters start = load_model(), fitted = fit(h200, start, halves.fitted);
  const FitQuality before = quality_of(h200, start, halves.unseen), after = quality_of(h200, fitted, halves.unseen);
  EXPECT_GT(before.median_error, 0.2);
  EXPECT_LT(after.median_error, 0.06);
  EXPECT_GT(after.spearman, 0.98);
  EXPECT_GT(after.family_spearman, 0.98);
}

TEST(ModelFit, CrossValidationLeavesEachFamilyToTheOthers) {
  std::vector<Observation> observations = split(synthetic(0.05)).fitted;
  const FitQuality honest = cross_validated(h200, load_model(), observations);
  EXPECT_LT(honest.median_error, 0.1);
  // A family that obeys a law of its own: a fit to all would bend towards it, the others cannot know it.
  const std::string odd = observations.front().family;
  for (Observation& observation : observations)
    if (observation.family == odd) observation.measured_ms *= 20;
  std::vector<Observation> alone;
  std::ranges::copy_if(observations, std::back_inserter(alone), [&](const auto& one) { return one.family == odd; });
  std::vector<Observation> others;
  std::ranges::copy_if(observations, std::back_inserter(others), [&](const auto& one) { return one.family != odd; });
  const FitQuality unknown = quality_of(h200, fit(h200, load_model(), others), alone);
  EXPECT_GT(unknown.median_error, 0.9);
  EXPECT_GT(cross_validated(h200, load_model(), observations).median_error, honest.median_error);
}

TEST(ModelFit, TheOtherHalfHasNoSay) {
  std::vector<Observation> observations = synthetic(0.05);
  const ModelParameters once = fit(h200, load_model(), split(observations).fitted);
  for (Observation& observation : observations)
    if (!is_for_fitting(observation.family)) observation.measured_ms *= 3;
  const ModelParameters again = fit(h200, load_model(), split(observations).fitted);
  for (const ModelParameter& parameter : model_parameters())
    EXPECT_EQ(once.*parameter.value, again.*parameter.value) << parameter.name;
}

TEST(ModelFit, WhatNothingDependsOnStays) {
  std::vector<Observation> observations = synthetic(0);
  for (Observation& observation : observations) observation.counters.global_atomics = {};
  EXPECT_EQ(fit(h200, load_model(), observations).atomics_per_clock, load_model().atomics_per_clock);
}

//! printf %s name | sha256sum
TEST(ModelFit, TheHashOfTheNameDecidesTheHalf) {
  EXPECT_TRUE(is_for_fitting("abc"));  // ba…
  EXPECT_FALSE(is_for_fitting(""));    // e3…
}

TEST(ModelFit, SpearmanKnowsOrderAndTies) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {10, 200, 3000, 3001}), 1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  EXPECT_NEAR(spearman({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9487, 1e-4);
  EXPECT_DOUBLE_EQ(spearman({1, 1, 1}, {1, 2, 3}), 0);
}

//! Times in another order than counters.
void store(const std::filesystem::path& folder, const std::vector<Observation>& observations) {
  std::string counted, measured;
  for (const Observation& observation : observations) {
    counted += counted_json(observation).dump() + "\n";
    const nlohmann::json time = {
        {"family", observation.family}, {"variant", observation.variant}, {"measured_ms", observation.measured_ms}};
    measured = time.dump() + "\n" + measured;
  }
  write_file_atomically(folder / "counted", counted);
  write_file_atomically(folder / "measured", measured);
}

TEST(Observations, SurviveTheirFiles) {
  const std::vector<Observation> written = synthetic(0.1);
  const TemporaryFolder folder;
  store(folder.path(), written);
  const std::vector<Observation> read = read_observations(folder.path() / "counted", folder.path() / "measured");
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(counted_json(read[i]), counted_json(written[i]));
    EXPECT_EQ(read[i].measured_ms, written[i].measured_ms);
  }
  const FitQuality a = quality_of(h200, truth(), written), b = quality_of(h200, truth(), read);
  EXPECT_EQ(a.median_error, b.median_error);
}

TEST(Observations, CountedLaunchesWithoutATimeAreLeftOut) {
  const std::vector<Observation> all = synthetic(0);
  const TemporaryFolder folder;
  store(folder.path(), {all[0], all[1]});
  write_file_atomically(folder.path() / "measured",
                        R"({"family": "family_0", "variant": "size_0", "measured_ms": 1, "gpu": "x"})");
  const std::vector<Observation> read = read_observations(folder.path() / "counted", folder.path() / "measured");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].variant, "size_0");
}

TEST(Observations, ErrorsNameThePlace) {
  nlohmann::json good = counted_json(synthetic(0)[0]);
  const auto error_of = [](const nlohmann::json& json) -> std::string {
    try {
      parse_counted(json.dump(), "x.jsonl, line 3");
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of(good), "none");
  nlohmann::json bad = good;
  bad["counters"]["lanes"] = -1;
  EXPECT_EQ(error_of(bad), "x.jsonl, line 3: counters.lanes: a count cannot be -1");
  bad = good;
  bad["counters"]["lane"] = 1;
  EXPECT_NE(error_of(bad).find("counters: unknown key \"lane\""), std::string::npos);
  bad = good;
  bad["shape"]["block"] = {256, 1};
  EXPECT_EQ(error_of(bad), "x.jsonl, line 3: shape.block: expected three numbers");
}

}  // namespace
}  // namespace cudal1::vgpu
