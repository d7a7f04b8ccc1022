// What is asked of PyTorch's CUDA part; where PyTorch has none, all of it throws Error.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "device/cuda/captured_call.hpp"
#include "graph/tensor_meta.hpp"

namespace cudal1 {

//! The stream on which PyTorch works for this device just now, as the driver's CUstream. `device` must be
//! the current one; it is started where nobody has.
void* current_stream(at::Device device);

//! From PyTorch's allocator, in the order of the current stream.
at::Tensor empty_on_gpu(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type, at::Device device);

using RunOnStreams = std::function<void(const std::vector<CUstream>& streams)>;

//! Captures what `run` enqueues on streams of its own, one for each branch of the plan; the first is the current one
//! meanwhile. Memory that PyTorch allocates in there stays the graph's. Throws what `run` throws, Error and c10::Error.
cuda::CapturedGraph capture_with_library(at::Device device, const Plan& plan, const RunOnStreams& run);

//! Makes this stream PyTorch's current one while `run` runs.
void run_on_stream(at::Device device, void* stream, const std::function<void()>& run);

}  // namespace cudal1
