#include "judge/error_sums.hpp"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "special_numbers.hpp"

namespace cudal1 {
namespace {

using testing::drawn, testing::expect_same, testing::infinity, testing::not_a_number, testing::with_specials;

at::Tensor numbers(std::vector<double> values, at::ScalarType type = at::kDouble) {
  return at::tensor(values, at::TensorOptions().dtype(at::kDouble)).to(type);
}

TEST(ErrorSums, CountWhatIsFiniteOnBothSides) {
  const at::Tensor exact = numbers({1.0, 2.0, infinity, 4.0, not_a_number});
  const at::Tensor result = numbers({1.5, not_a_number, 3.0, 2.0, 0.0});
  const ErrorSums sums = errors_of(result, exact, at::kDouble);
  EXPECT_EQ(sums.largest, 2.0);
  EXPECT_EQ(sums.squares, 4.25);
  EXPECT_EQ(sums.counted, 2);
  EXPECT_DOUBLE_EQ(sums.root_mean_square(), std::sqrt(4.25 / 2.0));
}

TEST(ErrorSums, LeaveOutWhatTheOutputsDtypeCannotHold) {
  const at::Tensor exact = numbers({1.0, 70000.0, 1e39}), zeros = at::zeros_like(exact);
  EXPECT_EQ(errors_of(zeros, exact, at::kDouble).counted, 3);
  EXPECT_EQ(errors_of(zeros, exact, at::kFloat).counted, 2);
  EXPECT_EQ(errors_of(zeros, exact, at::kHalf).counted, 1);
  EXPECT_EQ(sizes_of(exact, at::kFloat).largest, 70000.0);
}

TEST(ErrorSums, OfNothingAreZero) {
  const at::Tensor nothing = numbers({});
  EXPECT_EQ(errors_of(nothing, nothing, at::kFloat), ErrorSums());
  EXPECT_EQ(sizes_of(nothing, at::kFloat).root_mean_square(), 0.0);
}

TEST(Comparison, ExcusesWhatTheReferenceCannotEither) {
  const at::Tensor exact = numbers({1.0, 1.0, infinity, not_a_number, -infinity});
  const at::Tensor reference = numbers({1.0, infinity, infinity, 0.0, 0.0}, at::kFloat);
  const auto mismatches = [&](std::vector<double> candidate) {
    return compare_with(exact, reference, numbers(std::move(candidate), at::kFloat)).mismatches;
  };
  EXPECT_EQ(mismatches({1.0, 1.0, infinity, not_a_number, -infinity}), 0);
  EXPECT_EQ(mismatches({1.0, not_a_number, infinity, not_a_number, -infinity}), 0);
  EXPECT_EQ(mismatches({not_a_number, 1.0, infinity, not_a_number, -infinity}), 1);
  EXPECT_EQ(mismatches({1.0, 1.0, -infinity, 3.0, infinity}), 3);
  EXPECT_EQ(mismatches({1.0, 1.0, infinity, 0.0, 0.0}), 0) << "what PyTorch has";
}

TEST(AllWithin, AcceptsEqualInfinitiesAndNanForNan) {
  EXPECT_TRUE(all_within(numbers({1.0, infinity}), numbers({1.25, infinity}), 0.25));
  EXPECT_FALSE(all_within(numbers({1.0, infinity}), numbers({1.25, infinity}), 0.24));
  EXPECT_FALSE(all_within(numbers({infinity}), numbers({-infinity}), 1.0));
  EXPECT_TRUE(all_within(numbers({not_a_number}), numbers({not_a_number}), 1.0));
  EXPECT_FALSE(all_within(numbers({not_a_number}), numbers({1.0}), 1.0));
  EXPECT_FALSE(all_within(numbers({infinity}), numbers({not_a_number}), 1.0));
}

class WalkIn : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(WalkIn, GivesWhatTheOperatorsGive) {
  const at::ScalarType type = GetParam();
  for (const std::int64_t columns : {1, 7, 40001}) {
    const at::Tensor exact = with_specials({3, columns}, 1);
    const at::Tensor reference = with_specials({3, columns}, 2).to(type);
    const at::Tensor candidate = with_specials({3, columns}, 3).to(type);
    expect_same(errors_of(candidate, exact, type), by_operators::errors_of(candidate, exact, type));
    expect_same(errors_of(exact, exact, type), by_operators::errors_of(exact, exact, type));
    expect_same(sizes_of(exact, type), by_operators::sizes_of(exact, type));
    expect_same(compare_with(exact, reference, candidate), by_operators::compare_with(exact, reference, candidate));
    EXPECT_EQ(all_within(candidate, reference, 5.0), by_operators::all_within(candidate, reference, 5.0));
  }
}

TEST_P(WalkIn, PairsElementsByIndexAndNotByPlaceInMemory) {
  const at::Tensor exact = with_specials({60, 70}, 1).t();
  const at::Tensor reference = with_specials({70, 60}, 2).to(GetParam());
  const at::Tensor candidate = with_specials({70, 120}, 3).to(GetParam()).slice(1, 0, 120, 2);
  expect_same(compare_with(exact, reference, candidate), by_operators::compare_with(exact, reference, candidate));
  expect_same(errors_of(candidate, exact, at::kFloat), by_operators::errors_of(candidate, exact, at::kFloat));
}

TEST_P(WalkIn, AlongADimensionGivesWhatTheOperatorsGive) {
  const at::ScalarType type = GetParam();
  const at::Tensor exact = with_specials({5, 70, 300}, 1), turned = with_specials({300, 70, 5}, 1).permute({2, 1, 0});
  const at::Tensor result = with_specials({5, 70, 300}, 2).to(type);
  for (const at::Tensor& wanted : {exact, turned})
    for (std::int64_t dimension = 0; dimension < 3; ++dimension) {
      EXPECT_TRUE(largest_errors_along(result, wanted, type, dimension)
                      .equal(by_operators::largest_errors_along(result, wanted, type, dimension)));
      EXPECT_TRUE(largest_errors_along(exact, wanted, type, dimension)
                      .equal(by_operators::largest_errors_along(exact, wanted, type, dimension)));
      EXPECT_TRUE(largest_sizes_along(wanted, type, dimension)
                      .equal(by_operators::largest_sizes_along(wanted, type, dimension)));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, WalkIn, ::testing::Values(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16),
                         [](const auto& type) { return std::string(at::toString(type.param)); });

TEST(ErrorSums, DoNotDependOnTheNumberOfThreads) {
  const at::Tensor exact = drawn({300001}, 1), result = drawn({300001}, 2).to(at::kFloat);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const ErrorSums alone = errors_of(result, exact, at::kFloat);
  at::set_num_threads(3);
  EXPECT_EQ(errors_of(result, exact, at::kFloat), alone);
  at::set_num_threads(threads);
}

}  // namespace
}  // namespace cudal1
