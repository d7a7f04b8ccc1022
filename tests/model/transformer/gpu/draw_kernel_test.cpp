// Drawing on a GPU is drawing as the sampler of the host does it: the same ids for the same scores, seeds and
// positions.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "model/sampling/token_sampler.hpp"
#include "model/transformer/gpu/decode_kernels.hpp"
#include "virtual_runtime.hpp"

namespace cudal1 {
namespace {

struct Case {
  const char* name;
  std::int64_t vocabulary;
  GpuDtype dtype;
};

at::ScalarType torch_type(GpuDtype dtype) {
  return dtype == GpuDtype::f32 ? at::kFloat : dtype == GpuDtype::bf16 ? at::kBFloat16 : at::kHalf;
}

std::vector<SamplingParameters> parameters() {
  return {{1.0F, 0, 1.0F, 0.0F},  {0.0F, 0, 1.0F, 0.0F},  {0.7F, 0, 1.0F, 0.0F},   {2.5F, 0, 1.0F, 0.0F},
          {1.0F, 1, 1.0F, 0.0F},  {1.0F, 5, 1.0F, 0.0F},  {1.3F, 60, 1.0F, 0.0F},  {1.0F, 1000000, 1.0F, 0.0F},
          {1.0F, 0, 0.9F, 0.0F},  {1.0F, 0, 0.3F, 0.0F},  {1.0F, 0, 1e-6F, 0.0F},  {3.0F, 0, 0.99F, 0.0F},
          {1.0F, 0, 1.0F, 0.05F}, {1.0F, 0, 1.0F, 1.0F},  {1.5F, 40, 0.95F, 0.0F}, {1.5F, 40, 0.95F, 0.1F},
          {0.01F, 0, 0.9F, 0.0F}, {5.0F, 7, 0.5F, 0.01F}, {1.0F, 3, 0.9999F, 0.0F}};
}

class DrawKernel : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_vgpu(); !why.empty()) GTEST_SKIP() << why;
    ModelConfig config;
    config.hidden = config.feed_forward = 8;
    config.heads = config.kv_heads = 1;
    config.head_size = 8;
    config.vocabulary = GetParam().vocabulary;
    runtime_.load_kernels(decode_kernels_source(config, GetParam().dtype, 1), decode_kernel_names());
    at::manual_seed(3);
  }

  at::Tensor random_logits(std::int64_t rows, double scale) const {
    return (at::randn({rows, GetParam().vocabulary}) * scale).to(torch_type(GetParam().dtype));
  }

  //! Where there are masks, under them: their logits are changed.
  std::vector<DrawResult> drawn(const at::Tensor& logits, const std::vector<DrawRequest>& requests,
                                const at::Tensor& masks = {}) {
    at::Tensor in = at::empty({static_cast<std::int64_t>(requests.size() * sizeof(DrawRequest))}, at::kByte);
    std::memcpy(in.data_ptr(), requests.data(), in.nbytes());
    const at::Tensor out = at::zeros({static_cast<std::int64_t>(requests.size() * sizeof(DrawResult))}, at::kByte);
    const auto rows = static_cast<std::uint32_t>(requests.size());
    const auto along = static_cast<std::uint32_t>((GetParam().vocabulary + row_kernel_threads - 1) / row_kernel_threads);
    if (masks.defined()) runtime_.launch({"keep_allowed", {rows, along}, row_kernel_threads, {logits, in, masks}});
    runtime_.launch({"draw", {rows, 1}, draw_kernel_threads, {logits, in, out}});
    std::vector<DrawResult> results(requests.size());
    std::memcpy(results.data(), out.data_ptr(), out.nbytes());
    return results;
  }

  //! One row for each of the parameters.
  void expect_as_on_the_host(const at::Tensor& logits, std::uint64_t seed) {
    const std::vector<SamplingParameters> all = parameters();
    std::vector<DrawRequest> requests;
    for (std::size_t i = 0; i < all.size(); ++i) requests.push_back(draw_request(draw_of(all[i], seed, i)));
    const std::vector<DrawResult> found = drawn(logits, requests);
    const at::Tensor wide = logits.to(at::kFloat).contiguous();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::span<const float> row(wide[static_cast<std::int64_t>(i)].const_data_ptr<float>(),
                                       static_cast<std::size_t>(GetParam().vocabulary));
      const DrawnToken expected = draw_token(row, draw_of(all[i], seed, i));
      EXPECT_EQ(found[i].id, expected.id) << "parameters " << i << " seed " << seed;
      EXPECT_EQ(found[i].has_problem, 0);
      EXPECT_NEAR(found[i].sampled_log_probability, expected.sampled_log_probability, 2e-5) << i;
      EXPECT_NEAR(found[i].policy_log_probability, expected.policy_log_probability, 2e-5) << i;
    }
  }

  //! Every seventh token and the last one may come; of every third row, all.
  void expect_masked_as_on_the_host(const at::Tensor& logits, std::uint64_t seed) {
    const std::vector<SamplingParameters> all = parameters();
    AllowedTokens allowed(GetParam().vocabulary);
    for (std::int64_t id = 3; id < GetParam().vocabulary; id += 7) allowed.allow(static_cast<std::size_t>(id));
    allowed.allow(static_cast<std::size_t>(GetParam().vocabulary - 1));
    const auto words = static_cast<std::int64_t>(2 * allowed.words.size());
    const at::Tensor masks = at::zeros({static_cast<std::int64_t>(all.size()), words}, at::kInt);
    std::vector<TokenDraw> draws;
    std::vector<DrawRequest> requests;
    for (std::size_t i = 0; i < all.size(); ++i) {
      draws.push_back({all[i], seed, static_cast<std::int64_t>(i), i % 3 == 2 ? nullptr : &allowed});
      requests.push_back(draw_request(draws.back()));
      if (draws.back().allowed)
        std::memcpy(masks[static_cast<std::int64_t>(i)].data_ptr(), allowed.words.data(), allowed.words.size() * 8);
    }
    const at::Tensor wide = logits.to(at::kFloat, false, /*copy=*/true).contiguous();
    const std::vector<DrawResult> found = drawn(logits, requests, masks);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::span<const float> row(wide[static_cast<std::int64_t>(i)].const_data_ptr<float>(),
                                       static_cast<std::size_t>(GetParam().vocabulary));
      const DrawnToken expected = draw_token(row, draws[i]);
      EXPECT_EQ(found[i].id, expected.id) << "parameters " << i << " seed " << seed;
      EXPECT_EQ(found[i].has_problem, 0);
      EXPECT_NEAR(found[i].sampled_log_probability, expected.sampled_log_probability, 2e-5) << i;
      EXPECT_NEAR(found[i].policy_log_probability, expected.policy_log_probability, 2e-5) << i;
    }
  }

  static TokenDraw draw_of(const SamplingParameters& chosen, std::uint64_t seed, std::size_t i) {
    return {chosen, seed, static_cast<std::int64_t>(i), nullptr};
  }

  testing::VirtualRuntime runtime_;
};

TEST_P(DrawKernel, DrawsWhatTheHostDraws) {
  const auto rows = static_cast<std::int64_t>(parameters().size());
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    expect_as_on_the_host(random_logits(rows, seed % 2 == 0 ? 2.0 : 12.0), seed);
}

TEST_P(DrawKernel, UnderAMaskItDrawsWhatTheHostDraws) {
  const auto rows = static_cast<std::int64_t>(parameters().size());
  for (std::uint64_t seed = 40; seed < 43; ++seed) expect_masked_as_on_the_host(random_logits(rows, 4.0), seed);
}

TEST_P(DrawKernel, OfEqualScoresTheFirstIdsStay) {
  const auto rows = static_cast<std::int64_t>(parameters().size());
  for (std::uint64_t seed = 10; seed < 14; ++seed) expect_as_on_the_host(random_logits(rows, 1.0).round(), seed);
  expect_as_on_the_host(at::zeros_like(random_logits(rows, 1.0)), 20);
}

TEST_P(DrawKernel, TokensThatCannotComeAreNotDrawn) {
  at::Tensor logits = random_logits(static_cast<std::int64_t>(parameters().size()), 1.0);
  logits.slice(1, 0, GetParam().vocabulary - 3).fill_(-std::numeric_limits<double>::infinity());
  expect_as_on_the_host(logits, 30);
}

TEST_P(DrawKernel, TheMostAndTheLeastChanceAreTheLastAndTheFirstToken) {
  const at::Tensor logits = at::zeros_like(random_logits(2, 1.0));
  DrawRequest least = draw_request({}), most = least;
  least.chance = 0;
  most.chance = (std::uint64_t{1} << 53) - 1;
  const auto found = drawn(logits, {least, most});
  EXPECT_EQ(found[0].id, 0);
  EXPECT_EQ(found[1].id, GetParam().vocabulary - 1);
}

TEST_P(DrawKernel, ScoresThatAreNoNumbersAreAProblem) {
  at::Tensor logits = random_logits(4, 1.0);
  logits[0][5] = std::nan("");
  logits[1][7] = std::numeric_limits<float>::infinity();
  logits[2].fill_(-std::numeric_limits<double>::infinity());
  const auto found = drawn(logits, std::vector<DrawRequest>(4, draw_request({})));
  EXPECT_EQ(found[0].has_problem + found[1].has_problem + found[2].has_problem, 3);
  EXPECT_EQ(found[3].has_problem, 0);
}

TEST_P(DrawKernel, WhoIsNotAskedForIsLeftAlone) {
  DrawRequest nobody = draw_request({});
  nobody.is_wanted = 0;
  const auto found = drawn(random_logits(2, 9.0), {draw_request({}), nobody});
  EXPECT_NE(found[0].policy_log_probability, 0.0F);
  EXPECT_EQ(found[1].policy_log_probability, 0.0F);
}

INSTANTIATE_TEST_SUITE_P(All, DrawKernel,
                         ::testing::Values(Case{"small_f32", 97, GpuDtype::f32}, Case{"small_f16", 96, GpuDtype::f16},
                                           Case{"odd_bf16", 1001, GpuDtype::bf16},
                                           Case{"several_warps_f16", 6144, GpuDtype::f16},
                                           Case{"several_warps_f32", 5000, GpuDtype::f32}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace cudal1
