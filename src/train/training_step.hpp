// One step of training: texts in, gradients of their loss, clipped, weights or an adapter changed by AdamW. Nobody
// waits for the device in between.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/transformer/transformer.hpp"
#include "train/adamw.hpp"
#include "train/training_batch.hpp"
#include "train/transformer_gradients.hpp"

namespace cudal1 {

struct TrainingStepOptions {
  std::string adapter;  //!< of the model, which is trained; empty: all weights are
  AdamWOptions adamw;
  double weight_decay = 0.0;              //!< of matrices; norms and biases have none
  double longest_gradient = 1.0;          //!< all gradients together are clipped to this length
  std::int64_t logits_at_once = 1 << 12;  //!< positions whose logits exist at the same time
  //! Adds to all gradients, (G) fp32 on the model's device, what other processes have, before they are clipped. Called
  //! once an update, on the runtime's stream. Empty: nobody else has any.
  std::function<void(at::Tensor& gradients)> add_others = {};
};

//! Weights in bf16 or fp16 are trained as copies in fp32, which are rounded after each update; so are adapters. Tensors
//! that come from here are computed on the runtime's stream: read() them. Not for several threads at once.
class TrainingStep {
 public:
  //! Without a runtime everything is ATen's, on the device of the model. The model must outlive this, and is trained by
  //! one at a time. Throws Error.
  TrainingStep(Transformer& model, const TrainingStepOptions& options, std::shared_ptr<GpuRuntime> runtime = nullptr);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  //! On the model's device. Throws Error as pack_training_texts does.
  TrainingBatch pack(std::span<const TrainingText> texts);
  //! Of the batch's targets, (N) fp32, as the model and what is trained are now.
  at::Tensor log_probabilities(const TrainingBatch& batch);
  //! Of another policy, whose model has the same output matrix: hidden (N, C), what it has computed for the targets.
  at::Tensor log_probabilities_of(const at::Tensor& hidden, const TrainingBatch& batch);
  //! Of the policy that is trained; adds the batch's gradients to those that wait for update(). Several batches make a large one.
  at::Tensor accumulate(const TrainingBatch& batch, const LossSlopes& slopes = {});
  //! One step of AdamW with what has been accumulated, which is forgotten then. Returns how long the gradients were;
  //! were they not finite, nothing is changed.
  at::Tensor update(double learning_rate);

  //! Waits for what was computed.
  std::vector<float> read(const at::Tensor& numbers);
  void wait();

  //! AdamW's state, as AdamW::save and load have it.
  void save(const std::filesystem::path& file);
  void load(const std::filesystem::path& file);

 private:
  //! On the runtime's stream; what LibTorch throws becomes one line.
  template <class Work>
  auto on_stream(const Work& work);

  Transformer& model_;
  TrainingStepOptions options_;
  std::shared_ptr<GpuRuntime> runtime_;
  std::unique_ptr<RowOperations> rows_;
  std::optional<TransformerGradients> gradients_;
  std::optional<AdamW> optimiser_;
};

}  // namespace cudal1
