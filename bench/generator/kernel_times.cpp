#include "kernel_times.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>

namespace cudal1::bench {

std::vector<KernelTime> kernel_times(const std::function<void()>& work) {
  namespace profiler = torch::autograd::profiler;
  using torch::profiler::impl::ActivityType;
  const bool on_gpu = at::hasCUDA();
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (on_gpu) activities.insert(ActivityType::CUDA);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  work();
  const auto result = profiler::disableProfiler();
  std::map<std::string, KernelTime> sums;
  for (const auto& event : result->events()) {
    if (on_gpu && event.deviceType() != c10::DeviceType::CUDA) continue;
    KernelTime& sum = sums[event.name()];
    sum.kernel = event.name();
    sum.calls += 1;
    sum.milliseconds += static_cast<double>(event.durationNs()) * 1e-6;
  }
  std::vector<KernelTime> times;
  for (auto& entry : sums) times.push_back(std::move(entry.second));
  std::ranges::sort(times, std::greater<>(), &KernelTime::milliseconds);
  return times;
}

void print(const std::vector<KernelTime>& times, std::size_t most) {
  double all = 0.0;
  for (const KernelTime& time : times) all += time.milliseconds;
  fmt::print("{:10.3f} ms in all\n", all);
  for (std::size_t i = 0; i < std::min(most, times.size()); ++i)
    fmt::print("{:10.3f} ms {:6} calls  {}\n", times[i].milliseconds, times[i].calls, times[i].kernel.substr(0, 140));
}

}  // namespace cudal1::bench
