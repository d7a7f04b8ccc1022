// What earlier steps of a call left in L2: buffers used last are still there.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {

class L2Contents {
 public:
  //! Empty, as when a call is timed.
  explicit L2Contents(const GpuProfile& gpu);
  L2Contents(const L2Contents&) = delete;
  L2Contents& operator=(const L2Contents&) = delete;

  //! Bytes of the buffer that are there.
  double cached(const std::string& buffer) const;
  //! The buffer was read or written whole; what was used least recently goes.
  void use(const std::string& buffer, double bytes);

 private:
  using Buffers = std::list<std::pair<std::string, double>>;

  void remove(Buffers::iterator buffer);

  double capacity_;
  double held_bytes_ = 0;  //!< of all buffers
  Buffers buffers_;        //!< the last used first
  std::unordered_map<std::string, Buffers::iterator> by_name_;
};

}  // namespace cudal1::vgpu
