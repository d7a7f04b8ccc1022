// The memory in which a candidate lives. The judge owns it and hands the runner a descriptor: the judge itself
// writes inputs, poison and red zones, and itself reads results, so nothing the runner says about memory is believed.
#pragma once

#include <cstddef>
#include <memory>

#include "base/unique_fd.hpp"

namespace cudal1 {

class Arena {
 public:
  virtual ~Arena() = default;
  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); }  //!< what the runner maps

 protected:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  UniqueFd descriptor_;
};

//! Host memory, for devices that run on the host. Throws DeviceError(out_of_memory).
std::unique_ptr<Arena> make_host_arena(std::size_t bytes);

//! Memory of a GPU. Throws DeviceError(out_of_memory).
std::unique_ptr<Arena> make_cuda_arena(int ordinal, std::size_t bytes);

}  // namespace cudal1
