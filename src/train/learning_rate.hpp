#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace cudal1 {

struct CosineSchedule {
  double peak = 1e-3;
  std::int64_t warm_up_steps = 0;
  std::int64_t steps = 1;   //!< in all
  double last_share = 0.0;  //!< of the peak, at the end and ever after
};

//! Of step `step`, counted from 0: a straight line up to the peak, then half a wave of a cosine down. The first step of
//! a warm-up has a rate above 0, for a step without one teaches nothing.
inline double cosine_learning_rate(const CosineSchedule& schedule, std::int64_t step) {
  if (step < schedule.warm_up_steps)
    return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warm_up_steps);
  const std::int64_t falling = std::max<std::int64_t>(1, schedule.steps - schedule.warm_up_steps);
  const double way = std::min(1.0, static_cast<double>(step - schedule.warm_up_steps) / static_cast<double>(falling));
  const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * way));
  return schedule.peak * (schedule.last_share + (1.0 - schedule.last_share) * wave);
}

}  // namespace cudal1
