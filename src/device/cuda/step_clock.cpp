#include "device/cuda/step_clock.hpp"

namespace cudal1::cuda {

StepClock::~StepClock() {
  for (const CUevent event : events_) driver().cuEventDestroy(event);
}

void StepClock::tick(CUstream stream) {
  if (ticks_ == events_.size()) {
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "make an event");
    events_.push_back(event);
  }
  check(driver().cuEventRecord(events_[ticks_++], stream), "read the clock between steps");
}

std::vector<double> StepClock::intervals_ms() const {
  std::vector<double> intervals;
  for (std::size_t i = 1; i < ticks_; ++i) {
    float milliseconds = 0.0f;
    check(driver().cuEventElapsedTime(&milliseconds, events_[i - 1], events_[i]), "read the time of a step");
    intervals.push_back(milliseconds);
  }
  return intervals;
}

}  // namespace cudal1::cuda
