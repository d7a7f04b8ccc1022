// Needs LibTorch's CUDA headers.
#include <c10/cuda/CUDAStream.h>

#include "package/caller_stream.hpp"

namespace cudal1 {

void* current_stream(at::Device device) { return c10::cuda::getCurrentCUDAStream(device.index()).stream(); }

}  // namespace cudal1
