// The transformer on the CPU, for writing texts: weights as the file has them, everything that flows in fp32.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/model_weights.hpp"
#include "model/sampling/slot_decoder.hpp"
#include "model/transformer/cpu/kv_cache.hpp"
#include "model/transformer/cpu/packed_matrix.hpp"
#include "model/transformer/cpu/worker_team.hpp"

namespace cudal1 {

struct CpuDecoderOptions {
  CpuWeights weights = CpuWeights::as_file;
  std::int64_t slots = 8;
  std::int64_t slot_capacity = 2048;  //!< tokens; at most the model's context
  int threads = 0;                    //!< 0: as many as the machine has cores
};

//! Nothing is computed for slots that are not named in a step: each row is computed alone, by the same operations
//! however many there are.
class CpuDecoder final : public SlotDecoder {
 public:
  //! Copies what it needs of the weights. Merge an adapter into them before, see merged(). Throws Error.
  CpuDecoder(const ModelWeights& weights, const CpuDecoderOptions& options);
  ~CpuDecoder() override;

  std::int64_t slots() const override { return static_cast<std::int64_t>(slots_.size()); }
  std::int64_t slot_capacity() const override { return options_.slot_capacity; }
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::shared_ptr<const ComputedPrompt> prefill(std::span<const std::int32_t> prompt) override;
  void start(std::int64_t slot, const ComputedPrompt& prompt) override;
  void step(std::span<const SlotToken> tokens) override;
  std::vector<DrawnToken> draw(std::span<const SlotDraw> draws) override;

  //! What the slot's next token is drawn from.
  std::span<const float> logits(std::int64_t slot) const;  // (V)
  //! Of every position of a text, as prefill computes them.
  std::vector<float> all_logits(std::span<const std::int32_t> tokens);  // (T, V)
  std::size_t weight_bytes() const;

 private:
  struct Layer;
  struct Prompt;
  struct Slot;
  struct Row {  //!< one token to compute: it is at this position of this text
    std::int32_t token = 0;
    std::int64_t position = 0;
    KvCache* cache = nullptr;
  };
  struct Product {  //!< out (rows, matrix rows) += nothing: written
    const PackedMatrix* matrix = nullptr;
    float* out = nullptr;
    std::int64_t out_stride = 0;
  };
  class Buffers;

  void check_tokens(std::span<const std::int32_t> tokens) const;
  Slot& slot_at(std::int64_t slot);
  //! Leaves the rows' last hidden states, after the last norm, in buffers_->normed.
  void compute(std::span<const Row> rows);
  void compute_layer(std::int64_t layer, std::span<const Row> rows);
  void attention(std::int64_t layer, std::span<const Row> rows);
  void rotate_and_keep(std::int64_t layer, const Row& row, std::int64_t index);
  void rotate(const float* from, std::int64_t position, const std::vector<float>& norm, float* to);
  void norm_rows(const std::vector<float>& weight, std::int64_t rows);
  void add_rows(std::int64_t rows);
  //! All products of the same rows at once, shared among the threads.
  void multiply(std::span<const Product> products, const float* x, std::int64_t x_stride, std::int64_t rows);
  const PackedMatrix& output_matrix() const { return output_ ? *output_ : *embedding_; }
  void compute_logits(std::int64_t first_row, std::int64_t rows, float* out);
  //! Computes the tokens of a new text in pieces, with `after` called for each: (first token, count).
  template <class After>
  void compute_text(std::span<const std::int32_t> tokens, KvCache& cache, const After& after);

  ModelConfig config_;
  CpuDecoderOptions options_;
  const CpuKernels& kernels_;
  WorkerTeam team_;
  std::unique_ptr<PackedMatrix> embedding_, output_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<float> last_norm_, frequencies_;
  std::unique_ptr<Buffers> buffers_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace cudal1
