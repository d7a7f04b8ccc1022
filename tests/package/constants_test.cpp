// Constants of a program are no part of its module's state, so no `.to(device)` reaches them.
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "package/exported_plan.hpp"

namespace cudal1 {
namespace {

PackagedLeaf leaf(bool is_constant) { return {"limit", {DType::f32, {3}, {1}}, 0, 0, is_constant}; }

// "meta" stands for a GPU: a device on which nothing is by itself.
TEST(Constants, FollowACallToItsDevice) {
  const at::Tensor tensor = at::ones({3});
  for (const at::Device device : {at::Device(at::kMeta), at::Device(at::kCPU)}) {
    const at::Tensor made = placed(tensor, leaf(true), device);
    EXPECT_EQ(does_not_fit(made, leaf(true), device), nullptr);
  }
}

TEST(Constants, AreNotCopiedWhereTheyAre) {
  const at::Tensor tensor = at::ones({3});
  EXPECT_EQ(placed(tensor, leaf(true), at::kCPU).const_data_ptr(), tensor.const_data_ptr());
}

TEST(Constants, KeepTheirDtypeAndAreRefusedWithAnother) {
  const at::Tensor half = at::ones({3}, at::kHalf);
  EXPECT_EQ(placed(half, leaf(true), at::kMeta).scalar_type(), at::kHalf);
  EXPECT_STREQ(does_not_fit(placed(half, leaf(true), at::kMeta), leaf(true), at::kMeta), "has another dtype");
}

TEST(Constants, WithoutNumbersStayWhereTheyAre) {
  const at::Tensor empty = at::empty({3}, at::kMeta);
  EXPECT_STREQ(does_not_fit(placed(empty, leaf(true), at::kCPU), leaf(true), at::kCPU), "lies on another device");
}

TEST(Weights, AreTheirModulesToMove) {
  const at::Tensor tensor = at::ones({3});
  EXPECT_STREQ(does_not_fit(placed(tensor, leaf(false), at::kMeta), leaf(false), at::kMeta), "lies on another device");
}

TEST(Constants, AreMarkedInThePackage) {
  PackagedPlan plan;
  plan.weights = {leaf(true), leaf(false)};
  const PackagedPlan read = packaged_plan_from_json(to_json(plan));
  EXPECT_TRUE(read.weights[0].is_constant);
  EXPECT_FALSE(read.weights[1].is_constant);
}

}  // namespace
}  // namespace cudal1
