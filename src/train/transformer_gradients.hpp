// Gradients of a transformer's log-probabilities, computed layer by layer without autograd: few kernels, each reading
// and writing as little as it can, and no logits of all positions at once.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/transformer/attention.hpp"
#include "model/transformer/transformer.hpp"
#include "train/row_operations.hpp"
#include "train/trained_linear.hpp"
#include "train/training_batch.hpp"

namespace cudal1 {

//! How the loss changes with each log-probability, given those of the batch's targets first, first + 1, ...: (R) ->
//! (R), fp32, on the device.
using LossSlopes = std::function<at::Tensor(const at::Tensor& log_probabilities, std::int64_t first)>;

class TransformerGradients {
 public:
  //! Of all weights, or of an adapter that was added to the model. Model and operations must outlive this.
  TransformerGradients(Transformer& model, const std::string& adapter, RowOperations& rows, std::int64_t logits_rows);

  //! Log-probabilities of the batch's targets (N), fp32.
  at::Tensor log_probabilities(const TrainingBatch& batch);
  //! The same of another policy with this output matrix, of what it has computed: hidden (N, C), of the targets.
  at::Tensor log_probabilities_of(const at::Tensor& hidden, const TrainingBatch& batch) const;
  //! The same, and adds the gradients of the loss: - sum of weights times log-probabilities, or the one whose slopes
  //! are given.
  at::Tensor accumulate(const TrainingBatch& batch, const LossSlopes& slopes = {});

  GradientStore& store() { return *store_; }

 private:
  struct Layer {
    TrainedLinear projection, mixed, gate_and_up, down;
    at::Tensor attention_norm, feed_forward_norm, query_norm, key_norm;
    at::Tensor attention_norm_gradient, feed_forward_norm_gradient, query_norm_gradient, key_norm_gradient;
  };
  //! What a layer keeps for its gradients.
  struct LayerState {
    RowOperations::Normed before_attention, before_feed_forward;
    at::Tensor unnormed;   //!< (T, units D): projected before norms of heads
    at::Tensor projected;  //!< (T, units D): turned
    PlainNorm query_norm, key_norm;
    AttentionResult attention;
    at::Tensor gate_and_up, gated;                                            //!< (T, 2 F), (T, F)
    at::Tensor inner_projection, inner_mixed, inner_gate_and_up, inner_down;  //!< of adapters
  };
  struct Heads {
    at::Tensor query, key, value;  //!< (T, heads, D), (T, kv_heads, D)
  };
  struct Angles {
    at::Tensor cosines, sines;  //!< (T, D / 2)
  };

  Layer make_layer(std::int64_t index, const TrainedAdapter* adapter) const;
  Heads heads_of(const at::Tensor& projected) const;
  Angles angles_of(const PackedTokens& tokens) const;
  //! x + delta (T, C) -> what is to be added next.
  at::Tensor forward(const Layer& layer, const at::Tensor& x, const at::Tensor& delta, const PackedTokens& tokens,
                     const Angles& angles, LayerState& state) const;
  //! gradient (T, C): of the layer's output, then of its input.
  void backward(const Layer& layer, LayerState& state, const PackedTokens& tokens, const Angles& angles,
                at::Tensor& gradient) const;
  void norm_heads(const Layer& layer, LayerState& state) const;
  at::Tensor norm_heads_backward(const Layer& layer, const LayerState& state, const at::Tensor& gradient) const;
  void norm_backward(const RowOperations::Normed& normed, const at::Tensor& weight, const at::Tensor& weight_gradient,
                     const at::Tensor& out_gradient, at::Tensor& gradient) const;
  //! The last norm's result; each layer's state where it is wanted.
  RowOperations::Normed forward(const TrainingBatch& batch, const Angles& angles, std::vector<LayerState>* states);
  //! hidden (N, C), of the targets; `gradient`, where it is wanted, of hidden.
  at::Tensor score(const at::Tensor& hidden, const TrainingBatch& batch, const LossSlopes& slopes,
                   at::Tensor* gradient) const;

  Transformer& model_;
  ModelConfig config_;
  RowOperations& rows_;
  std::int64_t logits_rows_;
  std::optional<TrainedAdapter> adapter_;
  std::optional<GradientStore> store_;
  std::vector<Layer> layers_;
  at::Tensor embedding_, output_, last_norm_;
  at::Tensor embedding_gradient_, output_gradient_, last_norm_gradient_;
  at::Tensor frequencies_;  //!< (D / 2)
};

}  // namespace cudal1
