// Which kernels take how long, by PyTorch's own profiler, which sees those of other libraries and of ours too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudal1::bench {

struct KernelTime {
  std::string kernel;
  std::int64_t calls = 0;
  double milliseconds = 0.0;
};

//! Of all that `work` does, the longest first; without a GPU, operators instead of kernels. It must wait for its end.
std::vector<KernelTime> kernel_times(const std::function<void()>& work);

void print(const std::vector<KernelTime>& times, std::size_t most);

}  // namespace cudal1::bench
