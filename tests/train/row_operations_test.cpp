// What happens between matrix products: its plain form beside autograd, its kernels beside the plain form.
#include "train/row_operations.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/result.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "train/training_kernels.hpp"
#include "training_device.hpp"

namespace cudal1 {
namespace {

struct Case {
  const char* name;
  GpuDtype dtype;
  std::int64_t hidden, heads, kv_heads, head_size, feed_forward, vocabulary;
};

std::vector<Case> cases() {
  return {{"smollm_bf16", GpuDtype::bf16, 576, 9, 3, 64, 1536, 1600},
          {"smollm_f16", GpuDtype::f16, 576, 9, 3, 64, 1536, 1600},
          {"smollm_f32", GpuDtype::f32, 576, 9, 3, 64, 1536, 1600},
          {"qwen_bf16", GpuDtype::bf16, 896, 14, 2, 64, 4864, 4736},
          {"odd_sizes", GpuDtype::bf16, 74, 3, 1, 10, 33, 101},
          {"odd_sizes_f32", GpuDtype::f32, 2, 1, 1, 2, 1, 3},
          {"long_rows", GpuDtype::f32, 8192, 2, 1, 8, 64, 9000}};
}

ModelConfig config_of(const Case& one) {
  ModelConfig config;
  config.layers = 1;
  config.hidden = one.hidden;
  config.heads = one.heads;
  config.kv_heads = one.kv_heads;
  config.head_size = one.head_size;
  config.feed_forward = one.feed_forward;
  config.vocabulary = one.vocabulary;
  config.context = 512;
  return config;
}

at::ScalarType torch_type(GpuDtype dtype) {
  return dtype == GpuDtype::f32 ? at::kFloat : dtype == GpuDtype::bf16 ? at::kBFloat16 : at::kHalf;
}

//! Of the largest element: a rounding or two of the type.
double tolerance(GpuDtype dtype) { return dtype == GpuDtype::f32 ? 3e-6 : dtype == GpuDtype::bf16 ? 0x1p-7 : 0x1p-10; }

void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance, const char* what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  const at::Tensor exact = expected.to(at::kCPU, at::kDouble), is = found.to(at::kCPU, at::kDouble);
  EXPECT_LE((is - exact).abs().max().item<double>(), tolerance * (exact.abs().max().item<double>() + 1e-3)) << what;
}

//! Kernels get the same numbers as the plain operations, which compute in fp32 here, so that rounding is theirs alone.
class RowKernels : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_training_device(); !why.empty()) GTEST_SKIP() << why;
    at::manual_seed(11);
    runtime = testing::training_runtime();
    kernels = kernel_row_operations(config, torch_type(GetParam().dtype), *runtime);
    plain = plain_row_operations(config);
  }
  at::Tensor numbers(at::IntArrayRef shape, double scale = 1.0) const {
    return (at::randn(shape) * scale).to(torch_type(GetParam().dtype)).to(testing::training_device());
  }
  at::Tensor floats(at::IntArrayRef shape) const { return at::randn(shape).to(testing::training_device()); }
  at::Tensor targets(std::int64_t rows) const {
    return at::randint(config.vocabulary, {rows}, at::kLong).to(testing::training_device());
  }
  static at::Tensor wide(const at::Tensor& x) { return x.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true); }
  //! On the stream of the kernels, and waits before and after it.
  template <class Work>
  auto run(const Work& work) {
    decltype(work()) made;
    runtime->wait_for_everybody();
    runtime->on_stream([&] { made = work(); });
    runtime->synchronise();
    return made;
  }
  void expect(const at::Tensor& found, const at::Tensor& expected, const char* what, double times = 1.0) const {
    expect_close(found, expected, times * tolerance(GetParam().dtype), what);
  }

  ModelConfig config = config_of(GetParam());
  std::shared_ptr<GpuRuntime> runtime;
  std::unique_ptr<RowOperations> kernels, plain;
};

TEST_P(RowKernels, NormsAreThePlainOnes) {
  const at::Tensor x = numbers({5, config.hidden}), delta = numbers({5, config.hidden}),
                   weight = numbers({config.hidden});
  for (const at::Tensor& added : {delta, at::Tensor()}) {
    const auto found = run([&] { return kernels->add_and_norm(x, added, weight); });
    const at::Tensor sum = added.defined() ? x + added : x;
    EXPECT_TRUE(found.sum.equal(sum)) << "rounded as PyTorch rounds";
    const auto expected = plain->add_and_norm(wide(sum), {}, wide(weight));
    expect(found.out, expected.out, "normed");
    expect_close(found.scales, expected.scales, 3e-6, "scales");
  }
}

TEST_P(RowKernels, GradientsOfNormsAreThePlainOnes) {
  const std::int64_t rows = 7;
  const at::Tensor x = numbers({rows, config.hidden}), weight = numbers({config.hidden});
  const at::Tensor slopes = numbers({rows, config.hidden}), before = numbers({rows, config.hidden});
  const auto normed = run([&] { return kernels->add_and_norm(x, {}, weight); });
  const auto exact = plain->add_and_norm(wide(x), {}, wide(weight));
  for (const bool adds : {true, false}) {
    at::Tensor gradient = adds ? before.clone() : at::Tensor();
    at::Tensor expected = adds ? wide(before) : at::Tensor();
    const at::Tensor of_weight = run([&] { return kernels->norm_backward(normed, weight, slopes, gradient, true); });
    const at::Tensor expected_weight = plain->norm_backward(exact, wide(weight), wide(slopes), expected, true);
    expect(gradient, expected, "gradient", 2.0);
    expect_close(of_weight, expected_weight, 1e-5, "gradient of the weight");
    at::Tensor again = adds ? before.clone() : at::Tensor();
    EXPECT_FALSE(run([&] { return kernels->norm_backward(normed, weight, slopes, again, false); }).defined());
    EXPECT_TRUE(again.equal(gradient));
  }
}

TEST_P(RowKernels, PositionsTurnAsThePlainOnesAndBack) {
  const std::int64_t rows = 4, units = config.heads + 2 * config.kv_heads;
  const at::Tensor projected = numbers({rows, units * config.head_size});
  const at::Tensor angles = floats({rows, config.head_size / 2}), cosines = angles.cos(), sines = angles.sin();
  const at::Tensor turned = projected.clone(), expected = wide(projected);
  run([&] {
    kernels->rotate(turned, cosines, sines);
    return true;
  });
  plain->rotate(expected, cosines, sines);
  expect(turned, expected, "turned");
  const at::Tensor all = turned.view({rows, units, config.head_size});
  const at::Tensor back = run([&] {
    return kernels->rotate_back(all.narrow(1, 0, config.heads), all.narrow(1, config.heads, config.kv_heads),
                                all.narrow(1, config.heads + config.kv_heads, config.kv_heads), cosines, sines);
  });
  expect(back, projected, "turned back", 2.0);
}

TEST_P(RowKernels, GatesAreThePlainOnes) {
  const at::Tensor both = numbers({3, 2 * config.feed_forward}, 3.0), slopes = numbers({3, config.feed_forward});
  expect(run([&] { return kernels->gate(both); }), plain->gate(wide(both)), "gated", 2.0);
  const at::Tensor gradient = both.clone(), expected = wide(both);
  run([&] {
    kernels->gate_backward(gradient, slopes);
    return true;
  });
  plain->gate_backward(expected, wide(slopes));
  expect(gradient, expected, "gradient", 2.0);
}

TEST_P(RowKernels, ScoresAreThePlainOnes) {
  const std::int64_t rows = 3;
  const at::Tensor logits = numbers({rows, config.vocabulary}, 4.0), wanted = targets(rows), slopes = floats({rows});
  logits[0].mul_(20.0);  // sums that would overflow
  const auto found = run([&] { return kernels->score(logits, wanted); });
  const auto expected = plain->score(wide(logits), wanted);
  expect_close(found.log_probabilities, expected.log_probabilities, 1e-5, "log-probabilities");
  expect_close(found.log_sums, expected.log_sums, 1e-5, "sums");
  const at::Tensor gradient = logits.clone(), exact = wide(logits);
  run([&] {
    kernels->score_backward(gradient, wanted, found.log_sums, slopes);
    return true;
  });
  plain->score_backward(exact, wanted, expected.log_sums, slopes);
  expect_close(gradient, exact, tolerance(GetParam().dtype) + 2e-5, "gradient");
}

//! Two masks: every third token, and one token alone; a row between them has none.
AllowedByRow some_masks(const ModelConfig& config) {
  const std::int64_t words = mask_words(config);
  const at::Tensor bits = at::zeros({2, words * 32}, at::kInt);
  bits[0].slice(0, 0, config.vocabulary, 3).fill_(1);
  bits[1][config.vocabulary - 1] = 1;
  const at::Tensor powers = at::bitwise_left_shift(at::ones({32}, at::kInt), at::arange(32, at::kInt));
  return {(bits.view({2, words, 32}) * powers).sum(2, false, at::kInt).to(testing::training_device()),
          at::tensor({0, -1, 1, 0}, at::kInt).to(testing::training_device())};
}

TEST_P(RowKernels, ScoresUnderMasksAreThePlainOnes) {
  const AllowedByRow allowed = some_masks(config);
  const at::Tensor logits = numbers({4, config.vocabulary}, 4.0), slopes = floats({4});
  const at::Tensor wanted =
      at::tensor({0L, config.vocabulary - 2, config.vocabulary - 1, (config.vocabulary - 1) / 3 * 3}, at::kLong)
          .to(testing::training_device());
  logits[0].mul_(20.0);  // what is not allowed would be nearly all of the sum
  const auto found = run([&] { return kernels->score(logits, wanted, allowed); });
  const auto expected = plain->score(wide(logits), wanted, allowed);
  expect_close(found.log_probabilities, expected.log_probabilities, 1e-5, "log-probabilities");
  expect_close(found.log_sums, expected.log_sums, 1e-5, "sums");
  EXPECT_EQ(found.log_probabilities[2].item<float>(), 0.0F) << "no choice";
  const auto free = run([&] { return kernels->score(logits, wanted); });
  EXPECT_TRUE(found.log_probabilities[1].equal(free.log_probabilities[1])) << "without a mask the same bits";
  const at::Tensor gradient = logits.clone(), exact = wide(logits), of_free = logits.clone();
  run([&] {
    kernels->score_backward(gradient, wanted, found.log_sums, slopes, allowed);
    kernels->score_backward(of_free, wanted, free.log_sums, slopes);
    return true;
  });
  plain->score_backward(exact, wanted, expected.log_sums, slopes, allowed);
  expect_close(gradient, exact, tolerance(GetParam().dtype) + 2e-5, "gradient");
  EXPECT_TRUE(gradient[1].equal(of_free[1]));
  EXPECT_EQ(gradient[0][1].item<float>(), 0.0F) << "not allowed";
}

TEST_P(RowKernels, ATargetThatIsNotAllowedHasNoProbability) {
  const AllowedByRow allowed = some_masks(config);
  const at::Tensor logits = numbers({4, config.vocabulary}), wanted = at::ones({4}, at::kLong).to(logits.device());
  const auto found = run([&] { return kernels->score(logits, wanted, allowed); });
  EXPECT_TRUE(std::isinf(found.log_probabilities[0].item<float>()));
  EXPECT_TRUE(std::isfinite(found.log_probabilities[1].item<float>()));
  EXPECT_TRUE(std::isinf(plain->score(wide(logits), wanted, allowed).log_probabilities[0].item<float>()));
}

TEST_P(RowKernels, MasksOfAnotherVocabularyAreRefused) {
  AllowedByRow allowed = some_masks(config);
  allowed.masks = at::zeros({2, mask_words(config) + 2}, at::kInt).to(testing::training_device());
  const at::Tensor logits = numbers({4, config.vocabulary});
  EXPECT_THROW(kernels->score(logits, targets(4), allowed), Error);
}

INSTANTIATE_TEST_SUITE_P(All, RowKernels, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(RowKernelsForRealGpus, CompileForEveryTypeAndArchitecture) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  NvrtcCompiler compiler;
  for (const char* target : {"sm_80", "sm_90"})
    for (const Case& one : cases()) {
      const auto module =
          compiler.compile({training_kernels_source(config_of(one), one.dtype), training_kernel_names(), target});
      EXPECT_TRUE(module.ok()) << one.name << " " << target << ": " << module.failure().message << "\n"
                               << module.failure().details;
      EXPECT_TRUE(!module.ok() || module.value().log.empty()) << one.name;
    }
}

TEST(RowKernelsSource, RefusesWhatItCannotCompute) {
  ModelConfig config = config_of(cases()[0]);
  config.hidden = 577;
  EXPECT_THROW(training_kernels_source(config, GpuDtype::bf16), Error);
  config = config_of(cases()[0]);
  config.head_size = 63;
  EXPECT_THROW(training_kernels_source(config, GpuDtype::bf16), Error);
}

//! Gradients of f(inputs) times `slopes`, by autograd.
template <class Function>
std::vector<at::Tensor> gradients_of(const Function& function, std::vector<at::Tensor> inputs,
                                     const at::Tensor& slopes) {
  for (at::Tensor& input : inputs) input = input.detach().clone().requires_grad_();
  return torch::autograd::grad({function(inputs)}, inputs, {slopes});
}

class PlainRows : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(5); }
  ModelConfig config = config_of(cases()[4]);
  std::unique_ptr<RowOperations> plain = plain_row_operations(config);
};

TEST_F(PlainRows, GradientsOfNormsAreAutograds) {
  const at::Tensor x = at::randn({6, 74}), weight = at::randn({74}), slopes = at::randn({6, 74});
  const auto norm = [&](const std::vector<at::Tensor>& in) {
    return in[0] * at::rsqrt(in[0].square().mean(-1, true) + config.norm_epsilon) * in[1];
  };
  const std::vector<at::Tensor> expected = gradients_of(norm, {x, weight}, slopes);
  const auto normed = plain->add_and_norm(x * 0.25, x * 0.75, weight);
  expect_close(normed.out, norm({x, weight}), 1e-6, "normed");
  at::Tensor gradient = at::ones_like(x);
  expect_close(plain->norm_backward(normed, weight, slopes, gradient, true), expected[1], 1e-5, "weight");
  expect_close(gradient, expected[0] + 1.0, 1e-5, "x");
}

TEST_F(PlainRows, GradientsOfGatesAreAutograds) {
  const at::Tensor both = at::randn({6, 66}) * 3.0, slopes = at::randn({6, 33});
  const auto gate = [](const std::vector<at::Tensor>& in) {
    return in[0].narrow(1, 0, 33) * at::sigmoid(in[0].narrow(1, 0, 33)) * in[0].narrow(1, 33, 33);
  };
  expect_close(plain->gate(both), gate({both}), 1e-6, "gated");
  const at::Tensor gradient = both.clone();
  plain->gate_backward(gradient, slopes);
  expect_close(gradient, gradients_of(gate, {both}, slopes)[0], 1e-5, "gradient");
}

TEST_F(PlainRows, GradientsOfScoresAreThoseOfCrossEntropy) {
  const at::Tensor logits = at::randn({6, 101}) * 3.0, slopes = at::randn({6});
  const at::Tensor wanted = at::randint(101, {6}, at::kLong);
  const auto log_probabilities = [&](const std::vector<at::Tensor>& in) {
    return -at::cross_entropy_loss(in[0], wanted, {}, at::Reduction::None);
  };
  const auto scores = plain->score(logits, wanted);
  expect_close(scores.log_probabilities, log_probabilities({logits}), 1e-6, "log-probabilities");
  const at::Tensor gradient = logits.clone();
  plain->score_backward(gradient, wanted, scores.log_sums, slopes);
  expect_close(gradient, gradients_of(log_probabilities, {logits}, slopes)[0], 1e-5, "gradient");
}

TEST_F(PlainRows, ScoresUnderAMaskAreThoseWorkedByHand) {
  // Probabilities 1/2, 1/4, 1/8, 1/8; tokens 0 and 2 are allowed: 4/5 and 1/5.
  const at::Tensor logits = at::tensor({std::log(0.5F), std::log(0.25F), std::log(0.125F), std::log(0.125F)}).view({1, 4});
  const AllowedByRow allowed{at::tensor({5, 0}, at::kInt).view({1, 2}), at::tensor({0}, at::kInt)};
  const at::Tensor wanted = at::tensor({2L});
  const auto scores = plain->score(logits, wanted, allowed);
  EXPECT_NEAR(scores.log_probabilities[0].item<float>(), std::log(0.2), 1e-6);
  EXPECT_NEAR(scores.log_sums[0].item<float>(), std::log(0.625), 1e-6);
  const at::Tensor gradient = logits.clone();
  plain->score_backward(gradient, wanted, scores.log_sums, at::tensor({2.0F}), allowed);
  expect_close(gradient, at::tensor({-1.6F, 0.0F, 1.6F, 0.0F}).view({1, 4}), 1e-6, "gradient");
}

TEST_F(PlainRows, GradientsOfScoresUnderMasksAreDifferencesOfThem) {
  const at::Tensor logits = at::randn({2, 70}, at::kDouble).to(at::kFloat), slopes = at::tensor({1.5F, -0.5F});
  const at::Tensor wanted = at::tensor({1L, 66L});
  // Of the first row odd tokens below 64; of the second all.
  const AllowedByRow allowed{at::tensor({-1431655766, -1431655766, 0, 0}, at::kInt).view({1, 4}),
                             at::tensor({0, -1}, at::kInt)};
  const at::Tensor gradient = logits.clone();
  plain->score_backward(gradient, wanted, plain->score(logits, wanted, allowed).log_sums, slopes, allowed);
  const auto loss = [&](const at::Tensor& at_logits) {
    return (plain->score(at_logits, wanted, allowed).log_probabilities * slopes).sum().item<double>();
  };
  for (const std::int64_t token : {0, 1, 2, 33, 65, 66, 69})
    for (const std::int64_t row : {0, 1}) {
      at::Tensor more = logits.clone(), less = logits.clone();
      more[row][token].add_(0.05);
      less[row][token].sub_(0.05);
      EXPECT_NEAR(gradient[row][token].item<double>(), (loss(more) - loss(less)) / 0.1, 2e-4) << row << " " << token;
    }
}

}  // namespace
}  // namespace cudal1
