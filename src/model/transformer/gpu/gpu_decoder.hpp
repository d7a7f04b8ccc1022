// The transformer on a GPU, for writing texts: all slots in one step of fixed shape, which is recorded once and played
// again, so that nobody waits for launches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/model_weights.hpp"
#include "model/sampling/slot_decoder.hpp"
#include "model/transformer/gpu/decode_kernels.hpp"

namespace at {
class Tensor;
}

namespace cudal1 {

class GpuRuntime;

struct GpuDecoderOptions {
  GpuDtype dtype = GpuDtype::f16;
  std::int64_t slots = 8;
  std::int64_t slot_capacity = 2048;  //!< tokens; at most the model's context
  bool recorded = true;               //!< or each step is launched anew
};

//! Bytes of GPU memory for weights, keys and values, what flows, and what libraries take.
std::int64_t gpu_bytes_needed(const ModelConfig& config, const GpuDecoderOptions& options);

//! A step computes every slot; those that are not named in it keep what they have. Not for several threads at once.
class GpuDecoder final : public SlotDecoder {
 public:
  //! Copies what it needs of the weights. Merge an adapter into them before, see merged(). Throws Error, also where the
  //! memory is too small.
  GpuDecoder(const ModelWeights& weights, const GpuDecoderOptions& options, std::shared_ptr<GpuRuntime> runtime);
  ~GpuDecoder() override;

  std::int64_t slots() const override;
  std::int64_t slot_capacity() const override;
  std::int64_t vocabulary() const override;
  std::shared_ptr<const ComputedPrompt> prefill(std::span<const std::int32_t> prompt) override;
  void start(std::int64_t slot, const ComputedPrompt& prompt) override;
  //! Returns before it is done.
  void step(std::span<const SlotToken> tokens) override;
  //! Throws Error for a mask that allows nothing, or is of another vocabulary.
  std::vector<DrawnToken> draw(std::span<const SlotDraw> draws) override;

  //! What the slot's next token is drawn from.
  std::vector<float> logits(std::int64_t slot);  // (V)
  //! Waits until everything that was asked for is done.
  void wait();
  //! Other values for parameters, by Hugging Face's names, each rounded once: what training changed. Texts under way
  //! keep keys and values of the old ones.
  void set_parameters(const std::map<std::string, at::Tensor>& values);

 private:
  struct Prompt;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cudal1
