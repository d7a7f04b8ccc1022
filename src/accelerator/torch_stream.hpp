// A stream of our own on which PyTorch works too. Where PyTorch has no CUDA, all of this throws Error.
#pragma once

#include <functional>
#include <memory>

#include "device/cuda/captured_call.hpp"

namespace cudal1 {

//! Empty, or why PyTorch cannot compute on GPUs.
std::string why_torch_has_no_gpu();

class TorchStream {
 public:
  //! Starts PyTorch's CUDA. The GPU's primary context must be current.
  explicit TorchStream(int gpu);
  ~TorchStream();
  TorchStream(const TorchStream&) = delete;
  TorchStream& operator=(const TorchStream&) = delete;

  CUstream stream() const;
  //! The stream is PyTorch's current one meanwhile.
  void run(const std::function<void()>& work) const;
  //! What `work` enqueues, within run(); memory that PyTorch allocates in there stays the graph's. Throws what `work`
  //! throws.
  cuda::CapturedGraph capture(const std::function<void()>& work) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cudal1
