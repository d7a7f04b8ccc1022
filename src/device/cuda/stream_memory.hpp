// Copies and zeros in the order of a stream.
#pragma once

#include <cstddef>

#include "device/cuda/driver.hpp"
#include "program/plan.hpp"

namespace cudal1::cuda {

inline void copy_async(void* target, const void* source, std::size_t bytes, CUstream stream) {
  check(driver().cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(target), reinterpret_cast<CUdeviceptr>(source), bytes,
                                   stream),
        "copy on the device");
}

inline void zero_async(std::byte* address, const Buffer& buffer, CUstream stream) {
  check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(address), 0,
                                 static_cast<std::size_t>(buffer.meta.span_bytes()), stream),
        "zero a buffer");
}

}  // namespace cudal1::cuda
