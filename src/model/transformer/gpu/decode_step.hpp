// One token of every slot through the model, by the same operations in the same buffers at every step, so that a step
// can be recorded and played again.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/transformer/gpu/decode_kernels.hpp"
#include "model/transformer/gpu/gpu_runtime.hpp"
#include "model/transformer/transformer.hpp"

namespace cudal1 {

class DecodeStep {
 public:
  //! Lays those of the model's parameters that are multiplied together side by side in memory; the model goes on using
  //! them. Both must outlive this.
  DecodeStep(const Transformer& model, GpuRuntime& runtime, GpuDtype dtype, std::int64_t slots, std::int64_t capacity);

  //! tokens() at positions() -> keys, values and last_hidden; slots with a negative position keep theirs.
  void compute();
  //! last_hidden -> logits, of all slots
  void compute_logits();
  //! Leaves allowed tokens only in logits of slots whose requests() have a mask: masks().
  void keep_allowed();
  //! requests() -> results(), from logits
  void draw();

  at::Tensor tokens() const { return inputs_[0]; }                // (slots), int32
  at::Tensor positions() const { return inputs_[1]; }             // (slots), int32
  const at::Tensor& inputs() const { return inputs_; }            // (2, slots): both of them
  const at::Tensor& keys() const { return keys_; }                // (layers, slots, kv_heads, capacity, D)
  const at::Tensor& values() const { return values_; }            // (layers, slots, kv_heads, capacity, D)
  const at::Tensor& last_hidden() const { return last_hidden_; }  // (slots, C), after the last norm
  const at::Tensor& logits() const { return logits_; }            // (slots, V)
  const at::Tensor& requests() const { return requests_; }        // (slots, bytes of a DrawRequest)
  const at::Tensor& masks() const { return masks_; }              // (slots, words of a mask), int32
  const at::Tensor& results() const { return results_; }          // (slots, bytes of a DrawResult)

 private:
  struct Layer {
    at::Tensor projection, bias;                   // ((heads + 2 kv_heads) D, C), ((heads + 2 kv_heads) D)
    at::Tensor mixed, gate_and_up, down;           // (C, heads D), (2 F, C), (C, F)
    at::Tensor attention_norm, feed_forward_norm;  // (C)
    at::Tensor query_norm, key_norm;               // (D)
  };

  Layer layer_of(const Transformer& model, std::int64_t index) const;
  void make_buffers(at::ScalarType type);
  void make_angles();
  void compute_layer(std::size_t index);
  void attend(std::size_t index);
  void add_and_norm(const at::Tensor& weight, const at::Tensor& out);
  std::uint32_t rows() const { return static_cast<std::uint32_t>(slots_); }

  ModelConfig config_;
  GpuRuntime& runtime_;
  AttentionShape attention_;
  std::int64_t slots_, capacity_;
  at::Tensor embedding_, output_, last_norm_, nothing_;
  std::vector<Layer> layers_;
  at::Tensor cosines_, sines_;  // (capacity, D / 2)
  at::Tensor inputs_, x_, normed_, delta_, projected_, attended_, gate_and_up_, gated_;
  at::Tensor keys_, values_, last_hidden_, logits_, requests_, masks_, results_;
};

}  // namespace cudal1
