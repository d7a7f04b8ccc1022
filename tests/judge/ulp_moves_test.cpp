#include "judge/ulp_moves.hpp"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <limits>

namespace cudal1 {
namespace {

at::TensorOptions of(at::ScalarType type) { return at::TensorOptions().dtype(type); }

double share_of(const at::Tensor& directions, double direction) {
  return directions.eq(direction).to(at::kDouble).mean().item<double>();
}

TEST(RandomDirections, AreAThirdEach) {
  const at::Tensor directions = random_directions(at::empty({1000, 301}, of(at::kDouble)), 5);
  EXPECT_NEAR(share_of(directions, -1.0), 1.0 / 3.0, 0.005);
  EXPECT_NEAR(share_of(directions, 0.0), 1.0 / 3.0, 0.005);
  EXPECT_NEAR(share_of(directions, 1.0), 1.0 / 3.0, 0.005);
}

TEST(RandomDirections, MayNeverBeZero) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const at::Tensor directions = random_directions(at::empty({100000}, of(type)), 5, Directions::never_zero);
    EXPECT_GE(directions.abs().min().item<double>(), 0.399);
    EXPECT_LE(directions.abs().max().item<double>(), 1.201);
    EXPECT_NEAR(directions.mean().item<double>(), 0.0, 0.01);
    EXPECT_NEAR(directions.square().mean().item<double>(), 2.0 / 3.0, 0.04);
  }
}

TEST(RandomDirections, DifferFromSeedToSeedAndFromPlaceToPlace) {
  const at::Tensor like = at::empty({200000}, of(at::kDouble));
  const at::Tensor one = random_directions(like, 5), other = random_directions(like, 6);
  EXPECT_NEAR(one.eq(other).to(at::kDouble).mean().item<double>(), 1.0 / 3.0, 0.01);
  for (const std::int64_t distance : {1, 4, 32768})
    EXPECT_NEAR((one.slice(0, 0, -distance) * one.slice(0, distance)).mean().item<double>(), 0.0, 0.01) << distance;
}

TEST(RandomDirections, DoNotDependOnTheNumberOfThreads) {
  const at::Tensor like = at::empty({200001}, of(at::kDouble));
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor alone = random_directions(like, 5);
  at::set_num_threads(3);
  EXPECT_TRUE(random_directions(like, 5).equal(alone));
  at::set_num_threads(threads);
}

//! Moves of all elements in ulps, rounded.
at::Tensor moves_of(const at::Tensor& tensor, double ulps, double ulp) {
  const at::Tensor wide = tensor.to(at::kDouble);
  return (moved_by_ulps(tensor, ulps, 3) - wide) / (wide.abs() * ulp);
}

class MovesOf : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(MovesOf, AreSoManyUlpsOfFp32UpOrDown) {
  const double ulp = GetParam() == at::kDouble ? 0x1.0p-52 : 0x1.0p-23;
  const at::Tensor moves = moves_of(at::linspace(1.0, 2.0, 5000, of(GetParam())), 8.0, ulp);
  const at::Tensor sizes = moves.abs();
  EXPECT_NEAR(moves.max().item<double>(), 8.0, 1.0);
  EXPECT_NEAR(moves.min().item<double>(), -8.0, 1.0);
  EXPECT_TRUE(sizes.le(0.5).logical_or(sizes.ge(7.0)).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Types, MovesOf, ::testing::Values(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16),
                         [](const auto& type) { return std::string(at::toString(type.param)); });

TEST(Moves, OfZeroAreWholeDenormals) {
  const at::Tensor moved = moved_by_ulps(at::zeros({1000}, of(at::kFloat)), 3.0, 1);
  EXPECT_EQ(moved.max().item<double>(), 3.0 * 0x1.0p-149);
  EXPECT_EQ(moved.min().item<double>(), -3.0 * 0x1.0p-149);
}

TEST(Moves, KeepTheOrderOfElementsWhateverTheStrides) {
  const at::Tensor rows = at::arange(600, of(at::kFloat)).view({20, 30});
  for (const at::Tensor& tensor : {rows.t(), rows.slice(1, 0, 30, 2), rows.select(0, 1).expand({4, 30})}) {
    const at::Tensor moved = moved_by_ulps(tensor, 1.0, 1);
    EXPECT_EQ(moved.sizes(), tensor.sizes());
    EXPECT_LT((moved - tensor).abs().max().item<double>(), 0.001);
  }
}

TEST(Moves, LeaveIntegersAlone) {
  const at::Tensor integers = at::arange(10, of(at::kLong));
  EXPECT_TRUE(moved_by_ulps(integers, 100.0, 1).is_same(integers));
}

TEST(Moves, LeaveInfinitiesWhereTheyAre) {
  const double infinity = std::numeric_limits<double>::infinity();
  const at::Tensor numbers = at::tensor({infinity, -infinity, 1.0, 0.0}).repeat({50});
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf}) {
    const at::Tensor moved = moved_by_ulps(numbers.to(type), 8.0, 1);
    EXPECT_FALSE(moved.isnan().any().item<bool>());
    EXPECT_TRUE(moved.isinf().equal(numbers.isinf()));
  }
}

TEST(Moves, GoTheOtherWayWithUlpsBelowZero) {
  const at::Tensor numbers = at::linspace(1.0, 2.0, 100, of(at::kDouble));
  const at::Tensor there = moved_by_ulps(numbers, 8.0, 1) - numbers, back = moved_by_ulps(numbers, -8.0, 1) - numbers;
  EXPECT_TRUE(at::allclose(there, -back));
  EXPECT_GT(there.abs().max().item<double>(), 0.0);
}

TEST(MovesBySizes, AreDirectionsTimesSizes) {
  const at::Tensor zeros = at::zeros({400, 5}, of(at::kDouble)), sizes = at::arange(-2.0, 3.0, of(at::kDouble));
  for (const Directions directions : {Directions::thirds, Directions::never_zero}) {
    const at::Tensor drawn = random_directions(zeros, 7, directions);
    EXPECT_TRUE(moved_by(zeros, {0.5}, 7, directions).equal(drawn * 0.5));
    EXPECT_TRUE(moved_by(zeros, {0.5, sizes}, 7, directions).equal(drawn * sizes.abs() * 0.5)) << "by column";
    EXPECT_TRUE(moved_by(zeros, {-0.5, sizes}, 7, directions).equal(drawn * sizes.abs() * -0.5));
    const at::Tensor most = at::full_like(zeros, -0.3);
    EXPECT_TRUE(moved_by(zeros, {0.5, sizes, most}, 7, directions).equal((drawn * sizes.abs() * 0.5).clamp(-0.3, 0.3)));
  }
}

TEST(MovesBySizes, AreNoneWhereTheyAreNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const at::Tensor numbers = at::tensor({infinity, -infinity, 1.0, 0.0}, of(at::kDouble)).repeat({50});
  EXPECT_TRUE(moved_by(numbers, {0.5, numbers}, 1, Directions::never_zero).isinf().equal(numbers.isinf()));
  EXPECT_TRUE(moved_by(at::ones_like(numbers), {infinity}, 1, Directions::never_zero).equal(at::ones_like(numbers)));
}

TEST(MovesBySizes, LeaveWhatMovesAsItIs) {
  const at::Tensor numbers = at::ones({100}, of(at::kDouble));
  const at::Tensor moved = moved_by(numbers, {0.5, numbers}, 1, Directions::outward);
  EXPECT_TRUE(moved.equal(at::full_like(numbers, 1.5)));
  EXPECT_TRUE(numbers.equal(at::ones_like(numbers)));
  EXPECT_NE(moved_by(numbers, {0.0}, 1).const_data_ptr(), numbers.const_data_ptr());
}

}  // namespace
}  // namespace cudal1
