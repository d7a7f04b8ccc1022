// Device events between the steps of a call.
#pragma once

#include <cstddef>
#include <vector>

#include "device/cuda/driver.hpp"

namespace cudal1::cuda {

class StepClock {
 public:
  StepClock() = default;
  ~StepClock();
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  //! Forgets the ticks so far. The device must have passed them.
  void restart() { ticks_ = 0; }
  void tick(CUstream stream);
  //! Between each tick and the next. The device must have passed the last one.
  std::vector<double> intervals_ms() const;

 private:
  std::vector<CUevent> events_;  // made when first needed, kept for the next call
  std::size_t ticks_ = 0;
};

}  // namespace cudal1::cuda
