#include "train/row_operations.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "base/result.hpp"
#include "train/training_kernels.hpp"

namespace cudal1 {
namespace {

at::Tensor wide(const at::Tensor& x) { return x.to(at::kFloat); }

//! (R, V): whether a token may follow. Bits become bytes for each mask once, not for each row.
at::Tensor allowed_tokens(const AllowedByRow& allowed, std::int64_t vocabulary) {
  const std::int64_t masks = allowed.masks.size(0);
  const at::Tensor bytes = allowed.masks.view(at::kByte).unsqueeze(2);  // (M, bytes, 1)
  const at::Tensor bits = at::bitwise_right_shift(bytes, at::arange(8, bytes.options())).bitwise_and_(1);
  const at::Tensor each = bits.view({masks, -1}).narrow(1, 0, vocabulary).to(at::kBool);
  const at::Tensor all = at::cat({each, at::ones({1, vocabulary}, each.options())});  // the last row is -1's
  return all.index_select(0, at::where(allowed.rows < 0, masks, allowed.rows));
}

class PlainRowOperations final : public RowOperations {
 public:
  explicit PlainRowOperations(const ModelConfig& config) : config_(config) {}

  Normed add_and_norm(const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight) override {
    const at::Tensor sum = delta.defined() ? x + delta : x;
    const PlainNorm normed = plain_norm(sum, weight, config_.norm_epsilon);
    return {sum, normed.out, normed.scales.squeeze(-1)};
  }

  at::Tensor norm_backward(const Normed& normed, const at::Tensor& weight, const at::Tensor& out_gradient,
                           at::Tensor& gradient, bool wants_weight) override {
    const PlainNormGradients made = plain_norm_backward(normed.sum, normed.scales.unsqueeze(-1), weight, out_gradient);
    gradient = gradient.defined() ? gradient.add_(made.x) : made.x;
    return wants_weight ? made.weight : at::Tensor();
  }

  void rotate(const at::Tensor& projected, const at::Tensor& cosines, const at::Tensor& sines) override {
    const at::Tensor turned = heads_of(projected).narrow(1, 0, config_.heads + config_.kv_heads);
    turned.copy_(rotated(turned, cosines, sines));
  }

  at::Tensor rotate_back(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                         const at::Tensor& cosines, const at::Tensor& sines) override {
    const at::Tensor back = -sines;
    return at::cat({rotated(queries, cosines, back), rotated(keys, cosines, back), values}, 1).flatten(1);
  }

  at::Tensor gate(const at::Tensor& gate_and_up) override {
    const std::vector<at::Tensor> halves = gate_and_up.chunk(2, 1);
    return at::silu(halves[0]) * halves[1];
  }

  void gate_backward(const at::Tensor& gate_and_up, const at::Tensor& out_gradient) override {
    const std::vector<at::Tensor> halves = gate_and_up.chunk(2, 1);
    const at::Tensor gates = wide(halves[0]), slopes = wide(out_gradient), open = at::sigmoid(gates);
    const at::Tensor opened = gates * open;
    const at::Tensor of_gate = slopes * wide(halves[1]) * open * (1.0 + gates - opened);
    halves[1].copy_(slopes * opened);
    halves[0].copy_(of_gate);
  }

  Scores score(const at::Tensor& logits, const at::Tensor& targets, const AllowedByRow& allowed) override {
    const at::Tensor scores = possible(logits, allowed), log_sums = at::logsumexp(scores, {1});
    return {scores.gather(1, targets.unsqueeze(1)).squeeze(1) - log_sums, log_sums};
  }

  void score_backward(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& log_sums,
                      const at::Tensor& slopes, const AllowedByRow& allowed) override {
    at::Tensor gradient = at::exp(possible(logits, allowed) - log_sums.unsqueeze(1)).neg_();
    gradient.scatter_add_(1, targets.unsqueeze(1), at::ones({targets.size(0), 1}, gradient.options()));
    logits.copy_(gradient.mul_(slopes.unsqueeze(1)));
  }

 private:
  //! Scores in fp32, without an end where a token is not allowed.
  static at::Tensor possible(const at::Tensor& logits, const AllowedByRow& allowed) {
    if (!allowed.defined()) return wide(logits);
    const at::Tensor may_follow = allowed_tokens(allowed, logits.size(1));
    return wide(logits).masked_fill(may_follow.logical_not(), -std::numeric_limits<float>::infinity());
  }
  at::Tensor heads_of(const at::Tensor& projected) const {
    return projected.view({projected.size(0), -1, config_.head_size});
  }
  //! x (T, heads, D)
  static at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
    const std::vector<at::Tensor> halves = wide(x).chunk(2, -1);
    const at::Tensor c = cosines.unsqueeze(1), s = sines.unsqueeze(1);  // (T, 1, D / 2)
    return at::cat({halves[0] * c - halves[1] * s, halves[1] * c + halves[0] * s}, -1).to(x.scalar_type());
  }

  ModelConfig config_;
};

GpuDtype gpu_dtype(at::ScalarType dtype) {
  if (dtype == at::kFloat) return GpuDtype::f32;
  if (dtype == at::kBFloat16) return GpuDtype::bf16;
  if (dtype == at::kHalf) return GpuDtype::f16;
  throw Error("models are trained in fp32, bf16 or fp16");
}

std::uint32_t count(std::int64_t number) { return static_cast<std::uint32_t>(number); }

class KernelRowOperations final : public RowOperations {
 public:
  KernelRowOperations(const ModelConfig& config, at::ScalarType dtype, GpuRuntime& runtime)
      : config_(config), dtype_(gpu_dtype(dtype)), runtime_(runtime), norm_threads_(norm_kernel_threads(config)) {
    runtime_.load_kernels(training_kernels_source(config_, dtype_), training_kernel_names());
  }

  Normed add_and_norm(const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight) override {
    Normed made{delta.defined() ? at::empty_like(x) : x, at::empty_like(x),
                at::empty({x.size(0)}, x.options().dtype(at::kFloat))};
    launch("add_and_norm", {count(x.size(0)), 1}, norm_threads_,
           {x, delta.defined() ? delta : x, weight, made.sum, made.out, made.scales, delta.defined() ? 1 : 0});
    return made;
  }

  at::Tensor norm_backward(const Normed& normed, const at::Tensor& weight, const at::Tensor& out_gradient,
                           at::Tensor& gradient, bool wants_weight) override {
    const std::int64_t rows = normed.sum.size(0), blocks = std::min<std::int64_t>(rows, most_norm_blocks);
    const bool adds = gradient.defined();
    if (!adds) gradient = at::empty_like(normed.sum);
    const at::Tensor parts = at::empty({wants_weight ? blocks : 1, config_.hidden}, normed.scales.options());
    launch("norm_backward", {count(blocks), 1}, norm_threads_,
           {normed.sum, weight, normed.scales, out_gradient, gradient, parts, static_cast<std::int32_t>(rows),
            adds ? 1 : 0, wants_weight ? 1 : 0});
    return wants_weight ? parts.sum(0) : at::Tensor();
  }

  void rotate(const at::Tensor& projected, const at::Tensor& cosines, const at::Tensor& sines) override {
    launch("rotate", {count(projected.size(0)), 1}, turn_kernel_threads, {projected, cosines, sines});
  }

  at::Tensor rotate_back(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                         const at::Tensor& cosines, const at::Tensor& sines) override {
    const std::int64_t rows = queries.size(0);
    const at::Tensor made =
        at::empty({rows, (config_.heads + 2 * config_.kv_heads) * config_.head_size}, queries.options());
    launch("rotate_back", {count(rows), 1}, turn_kernel_threads,
           {queries.contiguous(), keys.contiguous(), values.contiguous(), cosines, sines, made});
    return made;
  }

  at::Tensor gate(const at::Tensor& gate_and_up) override {
    const std::int64_t rows = gate_and_up.size(0);
    const at::Tensor out = at::empty({rows, config_.feed_forward}, gate_and_up.options());
    launch("gate", gate_grid(rows), gate_kernel_threads, {gate_and_up, out, static_cast<std::int32_t>(rows)});
    return out;
  }

  void gate_backward(const at::Tensor& gate_and_up, const at::Tensor& out_gradient) override {
    const std::int64_t rows = gate_and_up.size(0);
    launch("gate_backward", gate_grid(rows), gate_kernel_threads,
           {gate_and_up, out_gradient, static_cast<std::int32_t>(rows)});
  }

  Scores score(const at::Tensor& logits, const at::Tensor& targets, const AllowedByRow& allowed) override {
    const std::int64_t rows = logits.size(0);
    const at::TensorOptions numbers = logits.options().dtype(at::kFloat);
    Scores made{at::empty({rows}, numbers), at::empty({rows}, numbers)};
    const AllowedByRow masks = masks_of(allowed, targets);
    launch("score", {count(rows), 1}, score_kernel_threads,
           {logits, targets, masks.masks, masks.rows, allowed.defined() ? 1 : 0, made.log_probabilities,
            made.log_sums});
    return made;
  }

  void score_backward(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& log_sums,
                      const at::Tensor& slopes, const AllowedByRow& allowed) override {
    const AllowedByRow masks = masks_of(allowed, targets);
    launch("score_backward", {count(logits.size(0)), count(score_kernel_blocks(config_, dtype_))}, score_kernel_threads,
           {logits, targets, masks.masks, masks.rows, allowed.defined() ? 1 : 0, log_sums, slopes});
  }

 private:
  //! What a kernel can be given; where there are no masks it reads neither.
  AllowedByRow masks_of(const AllowedByRow& allowed, const at::Tensor& something) const {
    if (!allowed.defined()) return {something, something};
    if (allowed.masks.size(1) != mask_words(config_) || allowed.masks.scalar_type() != at::kInt ||
        allowed.rows.scalar_type() != at::kInt || allowed.rows.size(0) != something.size(0))
      throw Error("the masks of these texts are of another vocabulary");
    return allowed;
  }

  //! Each adds a row of sums to what is summed up after it; twelve for each multiprocessor of a large GPU.
  static constexpr std::int64_t most_norm_blocks = 12 * 132;

  std::array<std::uint32_t, 2> gate_grid(std::int64_t rows) const {
    return {count(gate_kernel_blocks(config_, dtype_, rows)), 1};
  }

  void launch(const char* kernel, std::array<std::uint32_t, 2> grid, int threads,
              std::vector<KernelOperand> arguments) {
    for (const KernelOperand& argument : arguments)
      if (const auto* tensor = std::get_if<at::Tensor>(&argument); tensor && !tensor->is_contiguous())
        throw Error(std::string("the kernel ") + kernel + " wants its rows side by side in memory");
    if (grid[0] > 0) runtime_.launch({kernel, grid, static_cast<std::uint32_t>(threads), std::move(arguments)});
  }

  ModelConfig config_;
  GpuDtype dtype_;
  GpuRuntime& runtime_;
  int norm_threads_;
};

}  // namespace

PlainNorm plain_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor values = wide(x);
  const at::Tensor scales = at::rsqrt(values.square().mean(-1, /*keepdim=*/true) + epsilon);
  return {(values * scales * wide(weight)).to(x.scalar_type()), scales};
}

PlainNormGradients plain_norm_backward(const at::Tensor& x, const at::Tensor& scales, const at::Tensor& weight,
                                       const at::Tensor& out_gradient) {
  const at::Tensor unit = wide(x) * scales, slopes = wide(out_gradient), through = slopes * wide(weight);
  const at::Tensor along = (through * unit).mean(-1, /*keepdim=*/true);
  return {((through - unit * along) * scales).to(x.scalar_type()),
          (slopes * unit).reshape({-1, x.size(-1)}).sum(0)};  // (N)
}

std::unique_ptr<RowOperations> plain_row_operations(const ModelConfig& config) {
  return std::make_unique<PlainRowOperations>(config);
}

std::unique_ptr<RowOperations> kernel_row_operations(const ModelConfig& config, at::ScalarType dtype,
                                                     GpuRuntime& runtime) {
  return std::make_unique<KernelRowOperations>(config, dtype, runtime);
}

}  // namespace cudal1
