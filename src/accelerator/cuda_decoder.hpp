// A decoder on an NVIDIA GPU, put together.
#pragma once

#include <memory>
#include <string>

#include "model/transformer/gpu/gpu_decoder.hpp"

namespace cudal1 {

//! Empty, or why there is no GPU to decode on: one line.
std::string why_no_cuda_decoder();

//! Throws Error that says what is missing, or that the GPU's memory is too small.
std::unique_ptr<GpuDecoder> make_cuda_decoder(const ModelWeights& weights, const GpuDecoderOptions& options,
                                              int gpu = 0);

}  // namespace cudal1
