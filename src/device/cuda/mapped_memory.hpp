#pragma once

#include <cstddef>

#include "base/unique_fd.hpp"
#include "device/cuda/driver.hpp"

namespace cudal1::cuda {

//! Device memory mapped into this process, made here or imported from another process.
class MappedMemory {
 public:
  static MappedMemory create(int ordinal, std::size_t bytes);  //!< bytes are rounded up to the granularity
  static MappedMemory import(int ordinal, const UniqueFd& descriptor, std::size_t bytes);
  MappedMemory() = default;
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  ~MappedMemory();

  UniqueFd export_descriptor() const;
  CUdeviceptr address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void map(int ordinal);
  void release();
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cudal1::cuda
