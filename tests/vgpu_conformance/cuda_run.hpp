// A case on a real GPU, from the same PTX.
#pragma once

#include <cuda.h>

#include <utility>

#include "buffers.hpp"
#include "compiled_case.hpp"

namespace cudal1::conformance {

//! Memory of the GPU that goes with this object.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);  //!< throws DeviceError
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept : address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  CUdeviceptr address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

using Addresses = std::map<std::string, CUdeviceptr>;  //!< by buffer's name

//! PTX as the driver has translated it for this GPU.
class LoadedCase {
 public:
  LoadedCase(const Case& given, const CompiledCase& compiled);  //!< throws DeviceError with the translator's log
  ~LoadedCase();
  LoadedCase(const LoadedCase&) = delete;
  LoadedCase& operator=(const LoadedCase&) = delete;

  //! Puts all launches into the stream.
  void launch(const Addresses& addresses, CUstream stream) const;

 private:
  const Case& given_;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;  //!< one per launch
};

//! Runs all launches; the memory holds the results then. Throws DeviceError.
void run_on_gpu(const Case& given, const CompiledCase& compiled, Memory& memory);

}  // namespace cudal1::conformance
