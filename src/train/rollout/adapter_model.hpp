// The model that learns: frozen weights, a LoRA adapter that is trained in LibTorch, and a decoder that writes with
// both merged.
#pragma once

#include <functional>
#include <memory>

#include "train/rollout/learning_model.hpp"
#include "train/rollout/model_turns.hpp"

namespace cudal1 {

class ProcessGroup;

struct AdapterModelOptions {
  std::filesystem::path model;         //!< a GGUF file or a Hugging Face folder
  std::filesystem::path adapter = {};  //!< to go on from; empty: a new one
  std::int64_t rank = 32;              //!< of a new one; one to go on from must have the same, and this alpha
  double alpha = 64.0;
  std::uint64_t seed = 0;
  bool on_gpu = false;
  std::string dtype = "f32";  //!< f32, bf16, f16: of the frozen weights and of what flows
  std::int64_t slots = 8;     //!< texts that are written at once
  std::int64_t context_tokens = 2048;
  std::int64_t tokens_at_once = 16384;  //!< of texts whose gradients are computed together
  double longest_gradient = 1.0;        //!< length to which longer gradients are scaled
  double weight_decay = 0.0;
  ModelTurns turns = {};
  //! Who learn together. learn() and improve() are called on all of them with the same texts, of which each computes
  //! its share; what comes back is of all texts. Must outlive the model. Null: nobody else.
  ProcessGroup* group = nullptr;
};

class AdapterModel final : public LearningModel {
 public:
  //! Throws Error that says what is wrong with the model, the adapter or the GPU.
  explicit AdapterModel(const AdapterModelOptions& options);
  ~AdapterModel() override;

  std::size_t count_tokens(std::string_view text) const override;
  std::vector<std::vector<SampledAnswer>> answers(std::span<const PromptToAnswer> prompts) override;
  SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) override;
  double loss_of(std::span<const PromptAndAnswer> pairs) override;
  PolicyUpdate improve(std::span<const WeighedAnswer> answers, const GrpoOptions& options, int updates,
                       double learning_rate) override;
  void keep_as_reference() override;
  void begin_stage() override;
  void save_adapter(const std::filesystem::path& folder) override;
  void load_adapter(const std::filesystem::path& folder) override;
  void save_optimiser(const std::filesystem::path& file) override;
  void load_optimiser(const std::filesystem::path& file) override;
  const std::string& base_sha256() const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cudal1
