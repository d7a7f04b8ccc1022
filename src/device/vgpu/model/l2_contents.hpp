// What earlier steps of a call left in L2: buffers used last are still there.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <utility>

#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {

class L2Contents {
 public:
  //! Empty, as when a call is timed.
  explicit L2Contents(const GpuProfile& gpu);

  //! Bytes of the buffer that are there.
  double cached(const std::string& buffer) const;
  //! The buffer was read or written whole; what was used least recently goes.
  void use(const std::string& buffer, double bytes);

 private:
  double capacity_;
  std::list<std::pair<std::string, double>> buffers_;  // the last used first
};

}  // namespace cudal1::vgpu
