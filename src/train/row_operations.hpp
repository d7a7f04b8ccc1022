// What happens between the matrix products of a training step, forward and backward: in plain ATen, or by kernels of
// our own on a GPU that is handed in. Both compute in fp32 and round what they keep once.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "model/model_config.hpp"
#include "model/transformer/gpu/gpu_runtime.hpp"
#include "train/training_batch.hpp"

namespace cudal1 {

class RowOperations {
 public:
  virtual ~RowOperations() = default;

  //! A norm's result and what its gradient needs.
  struct Normed {
    at::Tensor sum;     //!< (T, C)
    at::Tensor out;     //!< (T, C): sum / rms(sum) * weight
    at::Tensor scales;  //!< (T), fp32: 1 / rms(sum)
  };
  //! Of x + delta; of x where there is no delta.
  virtual Normed add_and_norm(const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight) = 0;
  //! `gradient` (T, C), of the sum: to what it holds is added what comes through the norm; where it is not defined, it
  //! becomes that. Returns the weight's gradient (C) in fp32 where it is wanted.
  virtual at::Tensor norm_backward(const Normed& normed, const at::Tensor& weight, const at::Tensor& out_gradient,
                                   at::Tensor& gradient, bool wants_weight) = 0;

  //! Turns queries and keys of projected (T, (heads + 2 kv_heads) D) in place; angles: cosines, sines (T, D / 2), fp32.
  virtual void rotate(const at::Tensor& projected, const at::Tensor& cosines, const at::Tensor& sines) = 0;
  //! Gradients of turned queries (T, heads, D), turned keys and values (T, kv_heads, D) -> of projected.
  virtual at::Tensor rotate_back(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                                 const at::Tensor& cosines, const at::Tensor& sines) = 0;

  virtual at::Tensor gate(const at::Tensor& gate_and_up) = 0;  // (T, 2 F) -> (T, F): silu(gate) * up
  //! `gate_and_up` becomes its gradient.
  virtual void gate_backward(const at::Tensor& gate_and_up, const at::Tensor& out_gradient) = 0;

  struct Scores {
    at::Tensor log_probabilities;  //!< (R), fp32: of the targets
    at::Tensor log_sums;           //!< (R), fp32
  };
  //! (R, V), (R) int64. Tokens that are not allowed are no part of the sums; as targets they have probability 0.
  virtual Scores score(const at::Tensor& logits, const at::Tensor& targets, const AllowedByRow& allowed = {}) = 0;
  //! `logits` become the gradient of the sum of slopes (R, fp32) times log-probabilities: 0 for what is not allowed.
  virtual void score_backward(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& log_sums,
                              const at::Tensor& slopes, const AllowedByRow& allowed = {}) = 0;
};

std::unique_ptr<RowOperations> plain_row_operations(const ModelConfig& config);
//! Loads its kernels into the runtime, which must outlive what is returned. Throws Error.
std::unique_ptr<RowOperations> kernel_row_operations(const ModelConfig& config, at::ScalarType dtype,
                                                     GpuRuntime& runtime);

//! x (..., N) / rms(x) * weight (N) and 1 / rms(x) (..., 1), of rows of any length.
struct PlainNorm {
  at::Tensor out, scales;
};
PlainNorm plain_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);
//! Gradients of x and, in fp32, of the weight.
struct PlainNormGradients {
  at::Tensor x, weight;
};
PlainNormGradients plain_norm_backward(const at::Tensor& x, const at::Tensor& scales, const at::Tensor& weight,
                                       const at::Tensor& out_gradient);

}  // namespace cudal1
