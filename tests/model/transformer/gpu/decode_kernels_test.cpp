// The kernels of a decoding step on the virtual GPU, which also looks for races and accesses out of bounds, beside
// plain loops in fp64.
#include "model/transformer/gpu/decode_kernels.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "model/sampling/token_sampler.hpp"
#include "virtual_runtime.hpp"

namespace cudal1 {
namespace {

struct Case {
  const char* name;
  std::int64_t heads, kv_heads, head_size;
  GpuDtype dtype;
  bool bias = false, head_norm = false;
  std::int64_t slots = 128;  //!< that the text is written for: few have larger blocks
};

at::ScalarType torch_type(GpuDtype dtype) {
  return dtype == GpuDtype::f32 ? at::kFloat : dtype == GpuDtype::bf16 ? at::kBFloat16 : at::kHalf;
}

//! What one rounding to this type may be off by, relative.
double step_of(GpuDtype dtype) { return dtype == GpuDtype::f32 ? 1e-6 : dtype == GpuDtype::bf16 ? 0x1p-8 : 0x1p-11; }

ModelConfig config_of(const Case& one) {
  ModelConfig config;
  config.layers = 1;
  config.heads = one.heads;
  config.kv_heads = one.kv_heads;
  config.head_size = one.head_size;
  config.hidden = 72;
  config.feed_forward = 300;
  config.vocabulary = 101;
  config.context = 512;
  config.attention_bias = one.bias;
  config.query_key_norm = one.head_norm;
  return config;
}

at::Tensor numbers(at::IntArrayRef shape, GpuDtype dtype, double scale = 1.0) {
  return (at::randn(shape) * scale).to(torch_type(dtype));
}

at::Tensor positions_of(std::vector<std::int32_t> positions) { return at::tensor(positions, at::kInt); }

std::vector<Case> cases() {
  return {{"smollm_f16", 9, 3, 64, GpuDtype::f16},
          {"smollm_bf16", 9, 3, 64, GpuDtype::bf16},
          {"smollm_f32", 9, 3, 64, GpuDtype::f32},
          {"smollm_few_slots", 9, 3, 64, GpuDtype::f16, false, false, 4},
          {"one_head", 1, 1, 64, GpuDtype::f16, false, false, 1000},
          {"four_a_group", 8, 2, 64, GpuDtype::bf16},
          {"qwen2_bias", 14, 2, 64, GpuDtype::f16, true},
          {"qwen3_norms", 4, 2, 128, GpuDtype::bf16, false, true},
          {"large_heads", 2, 1, 256, GpuDtype::f32},
          {"more_heads_than_a_block_takes", 18, 2, 16, GpuDtype::f16, true, true},
          {"odd_sizes", 4, 2, 10, GpuDtype::f32, true},
          {"eighty", 4, 4, 80, GpuDtype::f16, false, false, 1},
          {"two_elements", 3, 1, 2, GpuDtype::bf16}};
}

class DecodeKernels : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_vgpu(); !why.empty()) GTEST_SKIP() << why;
    at::manual_seed(7);
    runtime_.load_kernels(decode_kernels_source(config_, dtype(), GetParam().slots), decode_kernel_names());
  }
  GpuDtype dtype() const { return GetParam().dtype; }
  AttentionShape shape() const { return attention_shape(config_, dtype(), GetParam().slots); }
  double tolerance() const { return 4 * step_of(dtype()); }

  ModelConfig config_ = config_of(GetParam());
  testing::VirtualRuntime runtime_;
};

void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
  const at::Tensor wide = expected.to(at::kDouble);
  const double largest = wide.abs().max().item<double>();
  EXPECT_LE((found.to(at::kDouble) - wide).abs().max().item<double>(), tolerance * (largest + 1e-3));
}

at::Tensor normed(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor wide = x.to(at::kDouble);
  return wide / at::sqrt(wide.square().mean(-1, true) + epsilon) * weight.to(at::kDouble);
}

TEST_P(DecodeKernels, EmbeddingsAreLookedUpAndNormed) {
  const at::Tensor embedding = numbers({101, 72}, dtype()), weight = numbers({72}, dtype());
  at::Tensor x = numbers({3, 72}, dtype()), out = numbers({3, 72}, dtype());
  const at::Tensor x_before = x.clone(), out_before = out.clone();
  runtime_.launch({"embed_and_norm",
                   {3, 1},
                   row_kernel_threads,
                   {positions_of({100, 5, 0}), positions_of({4, -1, 0}), embedding, weight, x, out}});
  EXPECT_TRUE(x[0].equal(embedding[100]) && x[2].equal(embedding[0]));
  EXPECT_TRUE(x[1].equal(x_before[1]) && out[1].equal(out_before[1])) << "a slot without a token stays as it is";
  expect_close(out[0], normed(embedding[100], weight, config_.norm_epsilon), tolerance());
  expect_close(out[2], normed(embedding[0], weight, config_.norm_epsilon), tolerance());
}

TEST_P(DecodeKernels, WhatALayerAddsIsAddedAndNormed) {
  const at::Tensor delta = numbers({2, 72}, dtype()), weight = numbers({72}, dtype());
  at::Tensor x = numbers({2, 72}, dtype()), out = numbers({2, 72}, dtype());
  const at::Tensor sum = x + delta, before = out[1].clone();
  runtime_.launch({"add_and_norm", {2, 1}, row_kernel_threads, {positions_of({0, -1}), delta, weight, x, out}});
  EXPECT_TRUE(x[0].equal(sum[0])) << "rounded as PyTorch rounds";
  EXPECT_TRUE(out[1].equal(before));
  expect_close(out[0], normed(sum[0], weight, config_.norm_epsilon), tolerance());
}

TEST_P(DecodeKernels, GatesAreOpenedAsPyTorchDoes) {
  const at::Tensor both = numbers({2, 600}, dtype(), 3.0);
  at::Tensor out = numbers({2, 300}, dtype());
  const at::Tensor before = out[0].clone();
  runtime_.launch({"gate", {2, 2}, row_kernel_threads, {positions_of({-1, 3}), both, out}});
  EXPECT_TRUE(out[0].equal(before));
  expect_close(out[1], at::silu(both[1].narrow(0, 0, 300)) * both[1].narrow(0, 300, 300), tolerance());
}

//! One slot after the definition, in fp64 but for what the cache rounds.
class AttentionReference {
 public:
  AttentionReference(const ModelConfig& config, at::ScalarType type) : config_(config), type_(type) {}

  //! x (D) as the projection left it; angles: cosines, sines (D / 2)
  at::Tensor head(at::Tensor x, const at::Tensor& bias, const at::Tensor* norm, const at::Tensor* angles) const {
    if (config_.attention_bias) x = (x.to(at::kFloat) + bias.to(at::kFloat)).to(type_);
    if (config_.query_key_norm && norm) x = normed(x, *norm, config_.norm_epsilon).to(type_);
    if (!angles) return x;
    const std::int64_t half = config_.head_size / 2;
    const at::Tensor a = x.narrow(0, 0, half).to(at::kDouble), b = x.narrow(0, half, half).to(at::kDouble);
    return at::cat({a * angles[0] - b * angles[1], b * angles[0] + a * angles[1]}).to(type_);
  }

  //! query (D), keys and values (length, D)
  at::Tensor attended(const at::Tensor& query, const at::Tensor& keys, const at::Tensor& values) const {
    const at::Tensor scores =
        at::mv(keys.to(at::kDouble), query.to(at::kDouble)) / std::sqrt(static_cast<double>(config_.head_size));
    return at::mv(values.to(at::kDouble).t(), at::softmax(scores, 0));
  }

 private:
  const ModelConfig& config_;
  at::ScalarType type_;
};

class Attention {
 public:
  Attention(const ModelConfig& config, GpuDtype dtype, std::vector<std::int32_t> positions, std::int64_t capacity)
      : config_(config),
        reference_(config, torch_type(dtype)),
        positions_(std::move(positions)),
        units_(config.heads + 2 * config.kv_heads),
        capacity_(capacity) {
    const auto slots = static_cast<std::int64_t>(positions_.size()), size = config.head_size;
    projected = numbers({slots, units_, size}, dtype);
    bias = numbers({units_, size}, dtype);
    query_norm = numbers({size}, dtype);
    key_norm = numbers({size}, dtype);
    const at::Tensor angles = at::randn({capacity, size / 2});
    cosines = angles.cos();
    sines = angles.sin();
    keys = numbers({slots, config.kv_heads, capacity, size}, dtype);
    values = numbers({slots, config.kv_heads, capacity, size}, dtype);
    attended = numbers({slots, config.heads, size}, dtype);
  }

  void run(testing::VirtualRuntime& runtime, const AttentionShape& shape) {
    runtime.launch(
        {"attend",
         {static_cast<std::uint32_t>(config_.heads / shape.block_heads), static_cast<std::uint32_t>(positions_.size())},
         static_cast<std::uint32_t>(shape.threads),
         {positions_of(positions_), projected, bias, query_norm, key_norm, cosines, sines, keys, values, attended,
          static_cast<std::int32_t>(capacity_)}});
  }

  //! With the cache as it was before.
  void expect_right(const Attention& before, double tolerance) const {
    for (std::size_t slot = 0; slot < positions_.size(); ++slot)
      for (std::int64_t head = 0; head < config_.heads; ++head)
        expect_head_right(before, static_cast<std::int64_t>(slot), head, tolerance);
  }

  Attention copy() const {
    Attention made = *this;
    for (at::Tensor* tensor : {&made.keys, &made.values, &made.attended}) *tensor = tensor->clone();
    return made;
  }

  at::Tensor projected, bias, query_norm, key_norm, cosines, sines, keys, values, attended;

 private:
  void expect_head_right(const Attention& before, std::int64_t slot, std::int64_t head, double tolerance) const {
    const std::int64_t kv = head / (config_.heads / config_.kv_heads);
    const std::int32_t position = positions_[static_cast<std::size_t>(slot)];
    if (position < 0) {
      EXPECT_TRUE(attended[slot].equal(before.attended[slot]) && keys[slot].equal(before.keys[slot]));
      return;
    }
    const at::Tensor angles[2] = {cosines[position].to(at::kDouble), sines[position].to(at::kDouble)};
    const auto unit = [&](std::int64_t index, const at::Tensor* norm, const at::Tensor* turned) {
      return reference_.head(projected[slot][index], bias[index], norm, turned);
    };
    at::Tensor all_keys = before.keys[slot][kv].clone(), all_values = before.values[slot][kv].clone();
    all_keys[position] = unit(config_.heads + kv, &key_norm, angles);
    all_values[position] = unit(config_.heads + config_.kv_heads + kv, nullptr, nullptr);
    expect_close(keys[slot][kv], all_keys, tolerance);
    EXPECT_TRUE(values[slot][kv].equal(all_values)) << "slot " << slot << " head " << head;
    const at::Tensor expected = reference_.attended(
        unit(head, &query_norm, angles), all_keys.narrow(0, 0, position + 1), all_values.narrow(0, 0, position + 1));
    expect_close(attended[slot][head], expected, 4 * tolerance);
  }

  const ModelConfig& config_;
  AttentionReference reference_;
  std::vector<std::int32_t> positions_;
  std::int64_t units_, capacity_;
};

TEST_P(DecodeKernels, AttentionIsTheDefinitionsForAnyLength) {
  Attention attention(config_, dtype(), {0, 1, 7, -1, 64, 130, 299, 300 - 1}, 300);  // the last place of the context
  const Attention before = attention.copy();
  attention.run(runtime_, shape());
  attention.expect_right(before, tolerance());
}

TEST_P(DecodeKernels, AttentionOfASlotIsTheSameWhateverIsBesideIt) {
  Attention first(config_, dtype(), {37, 150, 3}, 160), second(config_, dtype(), {9, -1, 37}, 160);
  for (const auto member : {&Attention::projected, &Attention::keys, &Attention::values})
    (second.*member)[2].copy_((first.*member)[0]);
  for (const auto member :
       {&Attention::bias, &Attention::query_norm, &Attention::key_norm, &Attention::cosines, &Attention::sines})
    second.*member = first.*member;
  first.run(runtime_, shape());
  second.run(runtime_, shape());
  EXPECT_TRUE(first.attended[0].equal(second.attended[2]));
  EXPECT_TRUE(first.keys[0].equal(second.keys[2]));
}

TEST_P(DecodeKernels, LargeScoresDoNotOverflow) {
  Attention attention(config_, dtype(), {90}, 100);
  attention.projected.mul_(20.0);
  attention.keys.mul_(20.0);
  const Attention before = attention.copy();
  attention.run(runtime_, shape());
  EXPECT_TRUE(at::isfinite(attention.attended).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(All, DecodeKernels, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(DecodeKernelsForRealGpus, CompileForEveryTypeAndArchitecture) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  NvrtcCompiler compiler;
  for (const char* target : {"sm_80", "sm_90"})
    for (const Case& one : cases()) {
      const auto module = compiler.compile(
          {decode_kernels_source(config_of(one), one.dtype, one.slots), decode_kernel_names(), target});
      EXPECT_TRUE(module.ok()) << one.name << " " << target << ": " << module.failure().message << "\n"
                               << module.failure().details;
      EXPECT_TRUE(!module.ok() || module.value().log.empty()) << one.name;
    }
}

TEST(DecodeKernelsSource, RefusesHeadsThatItCannotTurn) {
  ModelConfig config = config_of(cases()[0]);
  config.head_size = 63;
  EXPECT_THROW(decode_kernels_source(config, GpuDtype::f16, 8), Error);
  config = config_of(cases()[0]);
  config.kv_heads = 4;
  EXPECT_THROW(decode_kernels_source(config, GpuDtype::f16, 8), Error);
}

}  // namespace
}  // namespace cudal1
