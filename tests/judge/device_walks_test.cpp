// The judge's own kernels, run by the virtual GPU, against what the processor finds.
#include "judge/device_walks.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "compile/nvrtc_compiler.hpp"
#include "judge/ulp_moves.hpp"
#include "special_numbers.hpp"
#include "vgpu_walk_device.hpp"

namespace cudal1 {
namespace {

using testing::drawn, testing::expect_same, testing::infinity, testing::not_a_number, testing::with_specials;
using walk_kernels::Direction;

constexpr at::ScalarType output_types[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16};

at::TensorOptions fp64() { return at::TensorOptions().dtype(at::kDouble); }

//! NaN for NaN, and zeros of the same sign.
bool are_identical(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor same = a.eq(b).logical_and(a.signbit().eq(b.signbit())).logical_or(a.isnan().logical_and(b.isnan()));
  return a.sizes() == b.sizes() && same.all().item<bool>();
}

class DeviceWalk : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
    static const auto few = std::make_shared<testing::VgpuWalkDevice>(3);
    device_ = few;
    walks_ = std::make_unique<DeviceWalks>(device_);
    launches_before_ = device_->launches();
  }

  //! No test may pass by what somebody else computed.
  void expect_launches(std::uint64_t count, const std::string& last) {
    EXPECT_EQ(device_->launches() - launches_before_, count);
    const std::map<at::ScalarType, std::string> names = {
        {at::kFloat, "<float>"}, {at::kDouble, "<double>"}, {at::kHalf, "<Half>"}, {at::kBFloat16, "<Bfloat>"}};
    EXPECT_EQ(device_->last_kernel(), last + names.at(GetParam()));
  }

  std::shared_ptr<testing::VgpuWalkDevice> device_;
  std::unique_ptr<DeviceWalks> walks_;
  std::uint64_t launches_before_ = 0;
};

TEST_P(DeviceWalk, SumsErrorsAndSizesAsTheProcessorDoes) {
  for (const std::int64_t count : {1, 31, 256, 775, 5003})
    for (const at::ScalarType type : output_types) {
      const at::Tensor exact = with_specials({count}, 1), result = with_specials({count}, 2).to(GetParam());
      expect_same(walks_->sizes_of(exact, type), sizes_of(exact, type));
      expect_same(walks_->errors_of(result, exact, type), errors_of(result, exact, type));
    }
  expect_launches(5 * 4 * 2, "errors");
}

TEST_P(DeviceWalk, CountsWhereTheReferencesTypeEnds) {
  for (const at::ScalarType type : output_types) {
    const double limit = finite_below(type);
    const at::Tensor exact =
        at::tensor({limit, -limit, std::nextafter(limit, 0.0), -std::nextafter(limit, 0.0)}, fp64());
    const at::Tensor zeros = at::zeros({4}, at::TensorOptions().dtype(GetParam()));
    EXPECT_EQ(walks_->sizes_of(exact, type).counted, 2);
    EXPECT_EQ(walks_->errors_of(zeros, exact, type).counted, 2);
  }
}

TEST_P(DeviceWalk, ComparesAsTheProcessorDoes) {
  for (const std::int64_t count : {1, 300, 4099}) {
    const at::Tensor exact = with_specials({count}, 1);
    const at::Tensor reference = with_specials({count}, 2).to(GetParam());
    for (const at::Tensor& candidate : {with_specials({count}, 3).to(GetParam()), exact.to(GetParam())})
      expect_same(walks_->compare_with(exact, reference, candidate), compare_with(exact, reference, candidate));
  }
  expect_launches(3 * 2, "comparison");
}

TEST_P(DeviceWalk, ExcusesWhatTheReferenceCannotEither) {
  const auto numbers = [&](std::vector<double> values) { return at::tensor(values, fp64()).to(GetParam()); };
  const at::Tensor exact = at::tensor({1.0, 1.0, infinity, not_a_number, -infinity}, fp64());
  const at::Tensor reference = numbers({1.0, infinity, infinity, 0.0, 0.0});
  const auto mismatches = [&](std::vector<double> candidate) {
    return walks_->compare_with(exact, reference, numbers(std::move(candidate))).mismatches;
  };
  EXPECT_EQ(mismatches({1.0, not_a_number, infinity, not_a_number, -infinity}), 0);
  EXPECT_EQ(mismatches({not_a_number, 1.0, infinity, not_a_number, -infinity}), 1);
  EXPECT_EQ(mismatches({1.0, 1.0, -infinity, 3.0, infinity}), 3);
  EXPECT_EQ(mismatches({1.0, 1.0, not_a_number, infinity, 4.0}), 3);
  EXPECT_EQ(mismatches({1.0, 1.0, infinity, 0.0, 0.0}), 0) << "what PyTorch has";
}

TEST_P(DeviceWalk, TellsWhetherAllAreWithin) {
  at::Tensor one = with_specials({2003}, 1).to(GetParam()), other = one.clone();
  one[2000] = 1.0;
  other[2000] = 1.25;
  EXPECT_TRUE(walks_->all_within(one, one, 0.0));
  EXPECT_TRUE(walks_->all_within(one, other, 0.26));
  EXPECT_FALSE(walks_->all_within(one, other, 0.24));
  other[2001] = not_a_number;
  EXPECT_EQ(walks_->all_within(one, other, 1e300), all_within(one, other, 1e300));
  EXPECT_FALSE(walks_->all_within(one, -one, 1e300)) << "infinities of other signs";
  expect_launches(5, "within");
}

TEST_P(DeviceWalk, PairsElementsByIndexAndNotByPlaceInMemory) {
  const at::Tensor exact = with_specials({60, 70}, 1).t();
  const at::Tensor reference = with_specials({70, 60}, 2).to(GetParam());
  const at::Tensor candidate = with_specials({70, 120}, 3).to(GetParam()).slice(1, 0, 120, 2);
  expect_same(walks_->compare_with(exact, reference, candidate), compare_with(exact, reference, candidate));
  expect_same(walks_->errors_of(candidate, exact, at::kFloat), errors_of(candidate, exact, at::kFloat));
  expect_same(walks_->sizes_of(exact, at::kFloat), sizes_of(exact, at::kFloat));
  EXPECT_TRUE(walks_->largest_errors_along(candidate, exact, at::kFloat, 0)
                  .equal(largest_errors_along(candidate, exact, at::kFloat, 0)));
}

TEST_P(DeviceWalk, FindsTheLargestAlongEveryDimension) {
  // Long rows in pieces, short ones side by side, many that are read by columns, and sizes that fill no warp.
  const std::vector<std::vector<std::int64_t>> shapes = {
      {7},       {1, 1, 200}, {5, 70, 30}, {3, 2, 64}, {2, 3, 63},  {2, 9000},       {300, 3},
      {2003, 1}, {15, 40, 5}, {16, 40, 5}, {40, 33},   {1, 301, 2}, {2, 3, 5, 7, 11}};
  std::uint64_t walked = 0;
  for (const auto& shape : shapes) {
    const at::Tensor exact = with_specials(shape, 1), result = with_specials(shape, 2).to(GetParam());
    for (std::int64_t d = 0; d < exact.dim(); ++d, walked += 2) {
      EXPECT_TRUE(walks_->largest_sizes_along(exact, at::kHalf, d).equal(largest_sizes_along(exact, at::kHalf, d)))
          << exact.sizes() << " along " << d;
      EXPECT_TRUE(walks_->largest_errors_along(result, exact, at::kFloat, d)
                      .equal(largest_errors_along(result, exact, at::kFloat, d)))
          << exact.sizes() << " along " << d;
    }
  }
  expect_launches(walked, "largest_errors");
}

TEST_P(DeviceWalk, OfNothingIsNothing) {
  const at::Tensor nothing = at::empty({0, 3}, fp64()), given = nothing.to(GetParam());
  EXPECT_EQ(walks_->errors_of(given, nothing, at::kFloat), ErrorSums());
  EXPECT_EQ(walks_->sizes_of(nothing, at::kFloat), ErrorSums());
  EXPECT_EQ(walks_->compare_with(nothing, given, given), ErrorSums());
  EXPECT_TRUE(walks_->all_within(given, given, 0.0));
  EXPECT_EQ(walks_->moved(given, {}, 1).sizes(), nothing.sizes());
}

// --- moves

//! Of a zero that moves by one.
at::Tensor directions_of(const DeviceWalks& walks, std::vector<std::int64_t> sizes, Direction direction,
                         std::uint64_t seed) {
  return walks.moved(at::zeros(sizes, fp64()), {.absolute = 1.0, .direction = direction}, seed);
}

TEST_P(DeviceWalk, MovesByDirectionTimesSize) {
  for (const Direction direction : {Direction::thirds, Direction::never_zero}) {
    const at::Tensor directions = directions_of(*walks_, {2003}, direction, 5);
    const at::Tensor values = drawn({2003}, 1).to(GetParam()), wide = values.to(at::kDouble), sizes = drawn({2003}, 2);
    const auto wanted = [&](const at::Tensor& size) { return wide + directions * (size.abs() * 0.125 + 0.0625); };
    EXPECT_TRUE(walks_->moved(values, {0.125, 0.0625, direction}, 5).equal(wanted(wide)));
    EXPECT_TRUE(walks_->moved(values, {0.125, 0.0625, direction, sizes}, 5).equal(wanted(sizes)));
    EXPECT_TRUE(walks_->moved(values, {0.0, 0.0625, direction}, 5).equal(wide + directions * 0.0625));
    EXPECT_TRUE(walks_->moved(values, {-0.125, 0.0, direction}, 5).equal(wide - directions * (wide.abs() * 0.125)));
  }
  expect_launches(2 * 5, "moved");
}

TEST_P(DeviceWalk, MovesNoFartherThanItMay) {
  const at::Tensor values = drawn({1001}, 1).to(GetParam()), wide = values.to(at::kDouble), most = drawn({1001}, 2);
  const at::Tensor moved = walks_->moved(values, {0.0, 0.5, Direction::never_zero, {}, most}, 5);
  const at::Tensor free = directions_of(*walks_, {1001}, Direction::never_zero, 5) * 0.5;
  EXPECT_TRUE(moved.equal(wide + free.clamp(-most.abs(), most.abs())));
  EXPECT_FALSE(moved.equal(wide + free));
}

TEST_P(DeviceWalk, MovesOutwardAsTheProcessorDoes) {
  const at::Tensor values = with_specials({1003}, 1).to(GetParam());
  const double ulp = 3.0 * ulp_of(GetParam()), denormal = 3.0 * (GetParam() == at::kDouble ? 0x1.0p-1074 : 0x1.0p-149);
  EXPECT_TRUE(are_identical(walks_->moved(values, {ulp, denormal, Direction::outward_from_zero}, 1),
                            moved_by_ulps(values, 3.0, 1, Directions::outward)));
  EXPECT_TRUE(are_identical(walks_->moved(values, {0.0, 0.5, Direction::outward}, 1),
                            moved_by(values.to(at::kDouble), {0.5}, 1, Directions::outward)));
  expect_launches(2, "moved");
}

TEST_P(DeviceWalk, LeavesAloneWhatIsNotFinite) {
  const at::Tensor values = with_specials({1003}, 1).to(GetParam()), wide = values.to(at::kDouble);
  const at::Tensor moved = walks_->moved(values, {0.25, 0.0, Direction::never_zero}, 1), finite = wide.isfinite();
  EXPECT_TRUE(
      are_identical(at::where(finite, at::zeros_like(wide), moved), at::where(finite, at::zeros_like(wide), wide)));
  EXPECT_TRUE(moved.isfinite().equal(finite));
  const at::Tensor sizes = with_specials({1003}, 2), ones = at::ones({1003}, at::TensorOptions().dtype(GetParam()));
  const at::Tensor stayed = walks_->moved(ones, {0.25, 0.0, Direction::never_zero, sizes}, 1).eq(1.0);
  EXPECT_TRUE(stayed.equal(sizes.isfinite().logical_not().logical_or(sizes.abs().lt(1e-30))));
}

TEST_P(DeviceWalk, MovesIntoMemoryOfItsOwnWhateverTheStrides) {
  const at::Tensor rows = at::arange(600, fp64()).view({20, 30}).to(GetParam());
  for (const at::Tensor& values : {rows, rows.t(), rows.slice(1, 0, 30, 2), rows.select(0, 1).expand({4, 30})}) {
    const at::Tensor moved = walks_->moved(values, {}, 1);
    EXPECT_TRUE(moved.equal(values.to(at::kDouble)));
    EXPECT_NE(moved.const_data_ptr(), values.const_data_ptr());
    const at::Tensor sizes = at::arange(30, fp64()).slice(0, 0, values.size(1));
    const at::Tensor moves =
        walks_->moved(values, {.relative = 1.0, .direction = Direction::outward, .sizes = sizes}, 1);
    EXPECT_TRUE(moves.equal(values.to(at::kDouble) + values.sign() * sizes)) << "sizes by column";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceWalk, ::testing::ValuesIn(output_types),
                         [](const auto& type) { return std::string(at::toString(type.param)); });

class DirectionsOfWalk : public DeviceWalk {};

TEST_P(DirectionsOfWalk, AreAThirdEach) {
  const at::Tensor directions = directions_of(*walks_, {300, 401}, Direction::thirds, 5).flatten();
  for (const double direction : {-1.0, 0.0, 1.0})
    EXPECT_NEAR(directions.eq(direction).to(at::kDouble).mean().item<double>(), 1.0 / 3.0, 0.006);
  for (std::int64_t place = 0; place < 4; ++place)
    EXPECT_NEAR(directions.slice(0, place, directions.numel(), 4).mean().item<double>(), 0.0, 0.02) << place;
  for (const std::int64_t distance : {1, 2, 4, 256, 768})
    EXPECT_NEAR((directions.slice(0, 0, -distance) * directions.slice(0, distance)).mean().item<double>(), 0.0, 0.01)
        << distance;
}

TEST_P(DirectionsOfWalk, MayNeverBeZero) {
  const at::Tensor directions = directions_of(*walks_, {100000}, Direction::never_zero, 5);
  EXPECT_GE(directions.abs().min().item<double>(), 0.4);
  EXPECT_LE(directions.abs().max().item<double>(), 1.2);
  EXPECT_NEAR(directions.mean().item<double>(), 0.0, 0.01);
  EXPECT_NEAR(directions.square().mean().item<double>(), 2.0 / 3.0, 0.04);
}

TEST_P(DirectionsOfWalk, AreAFunctionOfSeedAndPlaceAlone) {
  const at::Tensor directions = directions_of(*walks_, {20000}, Direction::thirds, 5);
  const DeviceWalks wider(std::make_shared<testing::VgpuWalkDevice>(7));
  EXPECT_TRUE(directions_of(wider, {20000}, Direction::thirds, 5).equal(directions));
  EXPECT_TRUE(directions_of(*walks_, {100, 30}, Direction::thirds, 5).flatten().equal(directions.slice(0, 0, 3000)));
  const at::Tensor others = directions_of(*walks_, {20000}, Direction::thirds, 6);
  EXPECT_NEAR(directions.eq(others).to(at::kDouble).mean().item<double>(), 1.0 / 3.0, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Types, DirectionsOfWalk, ::testing::Values(at::kDouble), [](const auto&) { return "Double"; });

TEST(FiniteBelow, IsWhereCastsOfPyTorchOverflow) {
  for (const at::ScalarType type : output_types) {
    const double limit = finite_below(type);
    const at::Tensor casts = at::tensor({std::nextafter(limit, 0.0), limit}, fp64()).to(type).isfinite();
    EXPECT_TRUE(casts[0].item<bool>()) << at::toString(type);
    EXPECT_FALSE(casts[1].item<bool>()) << at::toString(type);
  }
}

TEST(DeviceWalksOver, AreOnlyForGpusThatWalk) {
  EXPECT_FALSE(device_walks_over({at::ones({3}, fp64())}));
  EXPECT_EQ(walk_device_of(0), nullptr);
}

TEST(WalkKernels, CompileWithNvrtcToo) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  const auto compiled = NvrtcCompiler().compile({walk_kernels::source(), walk_kernels::names(), "sm_90"});
  ASSERT_TRUE(compiled.ok()) << compiled.failure().message << "\n" << compiled.failure().details;
  EXPECT_EQ(compiled.value().symbols.size(), walk_kernels::names().size());
}

}  // namespace
}  // namespace cudal1
