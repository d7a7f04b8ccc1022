// What is asked of PyTorch's CUDA part; where PyTorch has none, all of it throws Error.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "device/cuda/captured_call.hpp"
#include "graph/tensor_meta.hpp"

namespace cudal1 {

//! The stream on which PyTorch works for this device just now, as the driver's CUstream. `device` must be
//! the current one; it is started where nobody has.
void* current_stream(at::Device device);

//! From PyTorch's allocator, in the order of the current stream.
at::Tensor empty_on_gpu(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type, at::Device device);

//! Captures what `run` enqueues on a stream of its own, which is the current one meanwhile. Memory that PyTorch
//! allocates in there stays the graph's. Throws what `run` throws, Error and c10::Error.
cuda::CapturedGraph capture_with_library(at::Device device, const std::function<void(CUstream)>& run);

//! Makes this stream PyTorch's current one while `run` runs.
void run_on_stream(at::Device device, void* stream, const std::function<void()>& run);

}  // namespace cudal1
