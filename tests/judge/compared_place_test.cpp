#include "judge/compared_place.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "device/cuda/driver.hpp"

namespace cudal1 {
namespace {

TEST(ComparedPlace, LeavesWhatIsOnTheHost) {
  const std::vector<at::Tensor> results{at::rand({3, 4}), at::arange(5), at::Tensor()};
  const auto placed = where_compared(results);
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(placed[i].is_same(results[i]));
  EXPECT_TRUE(where_compared(results[0]).is_same(results[0]));
}

TEST(ComparedPlaceOnGpu, BringsSmallResultsWithTheirShapesAndTypes) {
  std::string reason;
  if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
  const at::TensorOptions there = at::TensorOptions().device(at::kCUDA);
  const std::vector<at::Tensor> results{at::rand({7, 3}, there).t(),
                                        at::rand({1 << 10, 1 << 10}, there),
                                        at::full({}, 42, there.dtype(at::kLong)),
                                        at::rand({2, 3, 4, 5}, there).to(at::kHalf),
                                        at::empty({0, 4}, there),
                                        at::rand({11}, there),
                                        at::ones({3}, there.dtype(at::kBool))};
  const auto placed = where_compared(results);
  ASSERT_EQ(placed.size(), results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(placed[i].is_cpu(), i != 1) << i;
    EXPECT_EQ(placed[i].scalar_type(), results[i].scalar_type()) << i;
    EXPECT_EQ(placed[i].sizes(), results[i].sizes()) << i;
    EXPECT_TRUE(placed[i].equal(results[i].to(placed[i].device()))) << i;
    EXPECT_TRUE(where_compared(results[i]).equal(placed[i])) << i;
  }
}

}  // namespace
}  // namespace cudal1
