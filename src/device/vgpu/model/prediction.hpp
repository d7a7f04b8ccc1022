// Counters of a launch -> how long it takes on a GPU, and what it waits for.
#pragma once

#include <string>
#include <vector>

#include "device/vgpu/model/memory_traffic.hpp"

namespace cudal1::vgpu {

//! What a launch would take if it had to wait for this alone.
struct TimeComponent {
  std::string name;          //!< "DRAM bandwidth", "fp32", "latency" …
  double milliseconds = 0;   //!< at the rate that kernels reach
  double share_of_peak = 0;  //!< of the data sheet's rate, over the whole kernel; 0 where there is no such rate
};

struct KernelPrediction {
  double milliseconds = 0;                //!< launch included
  double launch_milliseconds = 0;         //!< of that, the launch
  std::vector<TimeComponent> components;  //!< all that is not zero, longest first
  std::string bound;                      //!< "DRAM bandwidth", "shared memory conflicts", "latency: 12% occupancy" …
  Occupancy occupancy;                    //!< what a multiprocessor could hold
  double active_share = 0;                //!< warps that it holds in this launch, of those it could
  double waves = 0;                       //!< blocks of the busiest multiprocessor over those it holds at once
  MemoryTraffic traffic;
  double dram_share = 0;          //!< of the peak bandwidth, without the launch
  std::string busiest_pipe;       //!< among those that compute: "fp32"
  double busiest_pipe_share = 0;  //!< of its peak, without the launch
};

//! Throws Error for a shape that no multiprocessor of this GPU can hold.
KernelPrediction predict(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters,
                         const ModelParameters& model);
//! With the parameters that come with the program.
KernelPrediction predict(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters);

}  // namespace cudal1::vgpu
