#include "judge/gpu_idle.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cudal1 {

GpuIdle GpuIdleMeter::next() {
  const double begin_s = std::exchange(begin_s_, now_s_()), seconds = begin_s_ - begin_s;
  std::vector<GpuTurnTaken> turns = reader_.read();
  const double unlocked_s = seconds - busy_seconds(turns, begin_s, begin_s_);
  std::erase_if(turns, [](const GpuTurnTaken& turn) { return turn.use == GpuUse::check; });
  const double idle_s = seconds - busy_seconds(std::move(turns), begin_s, begin_s_);
  seconds_ += seconds;
  idle_s_ += idle_s;
  unlocked_s_ += unlocked_s;
  return seconds > 0.0 ? GpuIdle{seconds, idle_s / seconds, unlocked_s / seconds} : GpuIdle{};
}

void GpuIdleMeter::restart() {
  reader_.read();
  begin_s_ = now_s_();
  seconds_ = idle_s_ = unlocked_s_ = 0.0;
}

GpuIdle GpuIdleMeter::over_all() const {
  return seconds_ > 0.0 ? GpuIdle{seconds_, idle_s_ / seconds_, unlocked_s_ / seconds_} : GpuIdle{};
}

}  // namespace cudal1
