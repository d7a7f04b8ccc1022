// AdamW on numbers worked by hand, and its state. test_adamw.py compares it with torch.optim.
#include "train/adamw.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/files.hpp"
#include "base/result.hpp"
#include "train/gradient_clipping.hpp"

namespace cudal1 {
namespace {

at::Tensor leaf(const std::vector<float>& values, at::ScalarType dtype = at::kFloat) {
  return at::tensor(values).to(dtype).requires_grad_(true);
}

void set_gradient(const at::Tensor& parameter, const std::vector<float>& values) {
  parameter.mutable_grad() = at::tensor(values).to(parameter.scalar_type());
}

float value_of(const at::Tensor& parameter, int index = 0) { return parameter.detach()[index].item<float>(); }

//! 1 with the gradients 0.5, then -0.25, at a rate of 0.1 with a decay of 0.01:
//! mean 0.05, square 0.00025, both corrected to 0.5 and 0.25: 1 * 0.999 - 0.1 * 0.5 / 0.5 = 0.899;
//! mean 0.02, square 0.00031225, corrected to 0.1052632 and 0.1562031: 0.899 * 0.999 - 0.1 * 0.2663371 = 0.8714673.
TEST(AdamWTest, TwoStepsByHand) {
  const at::Tensor weight = leaf({1.0F});
  AdamW optimiser({{{{"weight", weight}}, 1.0, 0.01}}, {});
  set_gradient(weight, {0.5F});
  optimiser.step(0.1);
  EXPECT_NEAR(value_of(weight), 0.899F, 1e-6);
  set_gradient(weight, {-0.25F});
  optimiser.step(0.1);
  EXPECT_NEAR(value_of(weight), 0.8714673F, 1e-6);
}

TEST(AdamWTest, GroupsHaveRatesAndDecaysOfTheirOwn) {
  const at::Tensor decays = leaf({1.0F}), slow = leaf({1.0F}), idle = leaf({1.0F});
  AdamW optimiser({{{{"decays", decays}, {"idle", idle}}, 1.0, 0.5}, {{{"slow", slow}}, 0.1, 0.0}}, {});
  set_gradient(decays, {1.0F});
  set_gradient(slow, {1.0F});
  optimiser.step(0.1);
  EXPECT_NEAR(value_of(decays), 0.85F, 1e-6) << "0.05 of decay and a step of 0.1";
  EXPECT_NEAR(value_of(slow), 0.99F, 1e-6);
  EXPECT_EQ(value_of(idle), 1.0F) << "without a gradient there is no decay either";
}

TEST(AdamWTest, StepsThatBf16CannotShowAddUp) {
  const at::Tensor narrow = leaf({1.0F}, at::kBFloat16);
  AdamW optimiser({{{{"narrow", narrow}}}}, {});
  for (int i = 0; i < 20; ++i) {
    set_gradient(narrow, {1.0F});
    optimiser.step(1e-3);  // bf16 has 0.996 next below 1
  }
  EXPECT_NEAR(value_of(narrow), 0.98F, 2e-3);
  EXPECT_EQ(narrow.scalar_type(), at::kBFloat16);
}

TEST(AdamWTest, AStepWithGradientsThatAreNotFiniteIsNone) {
  const at::Tensor weight = leaf({1.0F, 2.0F}), other = leaf({1.0F, 2.0F});
  AdamW optimiser({{{{"weight", weight}}}}, {}), expected({{{{"other", other}}}}, {});
  for (const float gradient : {0.5F, std::numeric_limits<float>::infinity(), 0.25F}) {
    set_gradient(weight, {gradient, 1.0F});
    optimiser.step(0.1, clip_by_global_norm(optimiser.gradients(), 1.0));
    if (!std::isfinite(gradient)) continue;
    set_gradient(other, {gradient, 1.0F});
    expected.step(0.1, clip_by_global_norm(expected.gradients(), 1.0));
  }
  EXPECT_TRUE(at::equal(weight, other)) << weight << other;
}

TEST(AdamWTest, ResumedEqualsUninterrupted) {
  const TemporaryFolder folder;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor whole = leaf({1.0F, -2.0F, 0.5F}, dtype), first = leaf({1.0F, -2.0F, 0.5F}, dtype);
    AdamW uninterrupted({{{{"w", whole}}, 1.0, 0.1}}, {}), before({{{{"w", first}}, 1.0, 0.1}}, {});
    const auto go = [](AdamW& optimiser, const at::Tensor& weight, int step) {
      set_gradient(weight, {0.3F * static_cast<float>(step), -1.0F, 0.01F});
      optimiser.step(0.01);
    };
    for (int step = 0; step < 6; ++step) go(uninterrupted, whole, step);
    for (int step = 0; step < 3; ++step) go(before, first, step);
    before.save(folder.path() / "state.safetensors");
    const at::Tensor second = first.detach().clone().requires_grad_(true);
    AdamW after({{{{"w", second}}, 1.0, 0.1}}, {});
    after.load(folder.path() / "state.safetensors");
    for (int step = 3; step < 6; ++step) go(after, second, step);
    EXPECT_TRUE(at::equal(second, whole)) << second << whole;
  }
}

std::string refusal(const auto& work) {
  try {
    work();
  } catch (const Error& problem) {
    return problem.what();
  }
  return "";
}

TEST(AdamWTest, RefusesTheStateOfOthersAndStaysAsItIs) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "state.safetensors";
  const at::Tensor weight = leaf({1.0F, 2.0F}), wider = leaf({1.0F, 2.0F, 3.0F});
  AdamW({{{{"w", weight}}}}, {}).save(file);
  AdamW other_name({{{{"v", weight}}}}, {}), other_size({{{{"w", wider}}}}, {});
  AdamW more({{{{"w", weight}, {"v", wider}}}}, {});
  EXPECT_NE(refusal([&] { other_name.load(file); }).find("no v#mean"), std::string::npos);
  EXPECT_NE(refusal([&] { other_size.load(file); }).find("f32[2]"), std::string::npos);
  EXPECT_NE(refusal([&] { more.load(file); }).find("3 tensors, not 6"), std::string::npos);
  EXPECT_NE(refusal([&] { more.load(folder.path() / "none"); }).find("none"), std::string::npos);
}

TEST(AdamWTest, RefusesWhatCannotBeTrained) {
  const at::Tensor weight = leaf({1.0F, 2.0F});
  EXPECT_NE(refusal([&] { AdamW({{{{"w", weight}}}, {{{"w", weight}}}}, {}); }).find("two groups"), std::string::npos);
  EXPECT_NE(refusal([&] { AdamW({{{{"w", weight * 2}}}}, {}); }).find("no contiguous leaf"), std::string::npos);
  EXPECT_NE(refusal([&] { AdamW({{{{"w", at::tensor({1, 2})}}}}, {}); }).find("no contiguous leaf"), std::string::npos);
}

TEST(GradientClipping, ScalesAllByTheLengthOfAll) {
  std::vector<at::Tensor> gradients{at::tensor({3.0F, 0.0F}), at::tensor({-4.0F})};
  EXPECT_FLOAT_EQ(clip_by_global_norm(gradients, 10.0).item<float>(), 5.0F);
  EXPECT_FLOAT_EQ(value_of(gradients[0]), 3.0F) << "short enough";
  EXPECT_FLOAT_EQ(clip_by_global_norm(gradients, 1.0).item<float>(), 5.0F) << "what it was before";
  EXPECT_NEAR(value_of(gradients[0]), 0.6F, 1e-6);
  EXPECT_NEAR(value_of(gradients[1]), -0.8F, 1e-6);
  EXPECT_EQ(clip_by_global_norm({}, 1.0).item<float>(), 0.0F);
}

TEST(GradientClipping, OfNarrowTypesIsAddedUpInFp32) {
  std::vector<at::Tensor> gradients{at::full({1 << 16}, 0.25F).to(at::kBFloat16)};
  EXPECT_FLOAT_EQ(clip_by_global_norm(gradients, 1e9).item<float>(), 64.0F);
}

}  // namespace
}  // namespace cudal1
