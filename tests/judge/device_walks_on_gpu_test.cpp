// The judge's walks through the CUDA driver: what the match rule asks of tensors on a GPU, against the processor.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

#include "judge/device_walks.hpp"
#include "judge/match.hpp"
#include "judge/ulp_moves.hpp"
#include "special_numbers.hpp"
#include "walks_on_gpu.hpp"

namespace cudal1 {
namespace {

using testing::drawn, testing::expect_same, testing::not_a_number, testing::with_specials;

constexpr double reordered = 1e-11;  // of sums over thousands of blocks

class WalkOnGpu : public testing::WalksOnGpu {};

at::Tensor on_gpu(const at::Tensor& tensor) { return tensor.to(at::Device(at::kCUDA, 0)); }

TEST_F(WalkOnGpu, GivesTheSumsOfTheProcessor) {
  for (const std::int64_t columns : {1, 7, 40001, 3000017})
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      const at::Tensor exact = with_specials({3, columns}, 1), reference = with_specials({3, columns}, 2).to(type),
                       candidate = with_specials({3, columns}, 3).to(type);
      const at::Tensor there = on_gpu(exact), usual = on_gpu(reference), given = on_gpu(candidate);
      const std::uint64_t before = launches();
      expect_same(compare_with(there, usual, given), compare_with(exact, reference, candidate), reordered);
      expect_same(sizes_of(there, at::kHalf), sizes_of(exact, at::kHalf), reordered);
      expect_same(errors_of(given, there, at::kBFloat16), errors_of(candidate, exact, at::kBFloat16), reordered);
      EXPECT_EQ(all_within(given, usual, 5.0), all_within(candidate, reference, 5.0));
      EXPECT_TRUE(all_within(given, given, 0.0));
      EXPECT_EQ(launches(), before + 5);
    }
}

TEST_F(WalkOnGpu, FindsTheLargestAlongEveryDimension) {
  const std::vector<std::vector<std::int64_t>> shapes = {{5, 70, 300}, {2, 3, 9000},  {100003},  {300000, 3},
                                                         {3, 300000},  {7, 5, 1, 64}, {1, 2003}, {64, 33, 17, 19}};
  for (const auto& shape : shapes) {
    const at::Tensor exact = with_specials(shape, 1), result = with_specials(shape, 2).to(at::kFloat);
    const at::Tensor there = on_gpu(exact), given = on_gpu(result);
    for (std::int64_t d = 0; d < exact.dim(); ++d) {
      const std::uint64_t before = launches();
      EXPECT_TRUE(largest_sizes_along(there, at::kHalf, d).cpu().equal(largest_sizes_along(exact, at::kHalf, d)))
          << exact.sizes() << " along " << d;
      EXPECT_TRUE(largest_errors_along(given, there, at::kFloat, d)
                      .cpu()
                      .equal(largest_errors_along(result, exact, at::kFloat, d)))
          << exact.sizes() << " along " << d;
      EXPECT_EQ(launches(), before + 2);
    }
  }
}

TEST_F(WalkOnGpu, MovesAsTheProcessorDoesWhereNothingIsRandom) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor values = with_specials({1000003}, 1).to(type), wide = values.to(at::kDouble);
    const std::uint64_t before = launches();
    const at::Tensor by_ulps = moved_by_ulps(on_gpu(values), 3.0, 1, Directions::outward).cpu();
    const at::Tensor by_sizes =
        moved_by(on_gpu(wide), {0.5, on_gpu(wide), on_gpu(wide * 0.25)}, 1, Directions::outward).cpu();
    EXPECT_EQ(launches(), before + 2);
    EXPECT_TRUE(at::allclose(by_ulps, moved_by_ulps(values, 3.0, 1, Directions::outward), 0.0, 0.0, true));
    EXPECT_TRUE(at::allclose(by_sizes, moved_by(wide, {0.5, wide, wide * 0.25}, 1, Directions::outward), 0, 0, true));
  }
}

TEST_F(WalkOnGpu, MovesAThirdUpAThirdDownAndAThirdNowhere) {
  const at::Tensor ones = on_gpu(at::ones({1000, 1003}, at::TensorOptions().dtype(at::kDouble)));
  const at::Tensor directions = moved_by(ones, {0.25}, 7).sub(1.0).mul(4.0);
  for (const double direction : {-1.0, 0.0, 1.0})
    EXPECT_NEAR(directions.eq(direction).to(at::kDouble).mean().item<double>(), 1.0 / 3.0, 0.003);
  EXPECT_TRUE(moved_by(ones, {0.25}, 7).sub(1.0).mul(4.0).equal(directions));
  EXPECT_TRUE(moved_by(ones, {-0.25}, 7).sub(1.0).mul(-4.0).equal(directions));
  EXPECT_FALSE(moved_by(ones, {0.25}, 8).sub(1.0).mul(4.0).equal(directions));
  EXPECT_EQ(launches(), 4u);
}

TEST_F(WalkOnGpu, IsOpenToEveryThread) {
  const at::Tensor exact = drawn({100003}, 1), there = on_gpu(exact);
  ErrorSums found;
  std::thread([&] { found = sizes_of(there, at::kFloat); }).join();
  expect_same(found, sizes_of(exact, at::kFloat), reordered);
  EXPECT_EQ(launches(), 1u);
}

// --- the whole match rule

//! More elements than are brought to the host to be compared.
Task normed_task() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [301, 512], "draw": {"kind": "normal"}}], "weights": [
      {"name": "w", "dtype": "f32", "shape": [512, 512], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "m", "op": "aten::mm", "args": ["x", "w"]},
      {"name": "n", "op": "aten::layer_norm", "args": ["m", [512]]},
      {"name": "g", "op": "aten::gelu", "args": ["n"]},
      {"name": "y", "op": "aten::cumsum", "args": ["g", 1]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  return task;
}

struct Verdicts {
  Budget budget;
  bool honest, noisy, with_nan;
};

Verdicts verdicts_on(at::Device device, Distribution distribution) {
  const Task task = normed_task();
  TensorTable leaves;
  draw_weights(task, 1, false, at::kCPU, leaves);
  draw_inputs(task, distribution, 2, at::kCPU, leaves);
  for (at::Tensor& leaf : leaves)
    if (leaf.defined()) leaf = leaf.to(device);
  const MatchRule rule(task, device, PrecisionPolicy::standard);
  const Expected expected = rule.expect(leaves, distribution, 3);
  const auto matches = [&](const at::Tensor& given) {
    return rule.compare(expected, {given}, distribution).at(0).matches();
  };
  const at::Tensor honest = rule.reference(leaves).at(0), noise = drawn({301, 512}, 4).to(honest.device());
  at::Tensor with_nan = honest.clone();
  with_nan[300][511] = not_a_number;
  return {expected.budgets.at(0), matches(honest),
          matches(honest + (noise * expected.budgets.at(0).max).to(honest.scalar_type())), matches(with_nan)};
}

TEST_F(WalkOnGpu, GivesTheMatchRuleTheVerdictsOfTheProcessor) {
  for (const Distribution distribution : {Distribution::native, Distribution::negative, Distribution::constant}) {
    const Verdicts here = verdicts_on(at::kCPU, distribution);
    const std::uint64_t before = launches();
    const Verdicts there = verdicts_on(at::Device(at::kCUDA, 0), distribution);
    EXPECT_GT(launches(), before + 20) << "or operators did it";
    EXPECT_TRUE(here.honest && there.honest);
    EXPECT_FALSE(here.noisy || there.noisy);
    EXPECT_FALSE(here.with_nan || there.with_nan);
    EXPECT_NEAR(there.budget.scale, here.budget.scale, 1e-6 * here.budget.scale);
    EXPECT_NEAR(std::log2(there.budget.movement / here.budget.movement), 0.0, 1.0) << "other draws of the same kind";
  }
}

// --- what it is for

std::int64_t free_bytes() {
  std::size_t free = 0, total = 0;
  cuda::check(cuda::driver().cuMemGetInfo(&free, &total), "read the free memory");
  return static_cast<std::int64_t>(free);
}

// Before any other test has left PyTorch pieces of this size.
TEST_F(WalkOnGpu, NeedsNoMemoryButForWhatItMakes) {
  const std::int64_t bytes = std::int64_t{1} << 30, small = bytes / 16;
  const at::Tensor exact =
      at::ones({bytes / 8 / 4096, 4096}, at::TensorOptions().dtype(at::kDouble).device(at::kCUDA, 0));
  const std::int64_t at_first = free_bytes();
  compare_with(exact, exact, exact);
  errors_of(exact, exact, at::kFloat);
  all_within(exact, exact, 0.0);
  for (std::int64_t d = 0; d < 2; ++d) largest_errors_along(exact, exact, at::kFloat, d);
  EXPECT_GT(free_bytes(), at_first - small);
  moved_by_ulps(exact, 6.0, 1);
  moved_by(exact, {1e-6, exact, exact}, 1);
  EXPECT_GT(free_bytes(), at_first - bytes - small) << "PyTorch keeps what the first result was in";
}

TEST_F(WalkOnGpu, TakesLessTimeThanOperators) {
  constexpr int runs = 5;
  const auto options = at::TensorOptions().dtype(at::kDouble).device(at::kCUDA, 0);
  const at::Tensor exact = at::randn({64, 1024, 1024}, options), result = exact + 1e-6;  // 512 MiB each
  const auto expect_faster = [&](const char* what, const std::function<void()>& work) {
    const double walked = testing::milliseconds_of(runs, work);
    const auto device = walk_device_of(0);
    use_walk_device(0, nullptr);
    const double by_operators = testing::milliseconds_of(runs, work);
    use_walk_device(0, device);
    std::printf("           %-22s %8.3f ms, by operators %8.3f ms\n", what, walked, by_operators);
    EXPECT_LT(walked, by_operators) << what;
  };
  expect_faster("moved_by_ulps", [&] { moved_by_ulps(exact, 6.0, 1); });
  expect_faster("moved_by |itself|", [&] { moved_by(exact, {1e-6, exact}, 1); });
  expect_faster("moved_by one number", [&] { moved_by(exact, {1e-6}, 1); });
  expect_faster("moved_by other sizes", [&] { moved_by(exact, {1e-6, result}, 1, Directions::never_zero); });
  expect_faster("errors_of", [&] { errors_of(result, exact, at::kFloat); });
  expect_faster("sizes_of", [&] { sizes_of(exact, at::kFloat); });
  expect_faster("compare_with", [&] { compare_with(exact, result, result); });
  expect_faster("all_within", [&] { all_within(exact, result, 1.0); });
  for (std::int64_t d = 0; d < 3; ++d) {
    expect_faster("largest_errors_along", [&] { largest_errors_along(result, exact, at::kFloat, d); });
    expect_faster("largest_sizes_along", [&] { largest_sizes_along(exact, at::kFloat, d); });
  }
}

}  // namespace
}  // namespace cudal1
