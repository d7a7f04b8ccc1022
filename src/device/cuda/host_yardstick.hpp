// How fast is the host at this moment? The time of a launch that does nothing, taken right before and after what is
// measured: on a shared machine it changes from one millisecond to the next.
#pragma once

#include "device/cuda/cuda_device.hpp"

namespace cudal1::cuda {

class HostYardstick {
 public:
  explicit HostYardstick(CUfunction empty_kernel) : kernel_(empty_kernel) {}
  //! Host clock of one launch, the mean of a few, in milliseconds.
  double launch_ms(CUstream stream) const;

 private:
  CUfunction kernel_;
};

}  // namespace cudal1::cuda
