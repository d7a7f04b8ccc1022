// The profile for a GPU that is really there.
#pragma once

#include <cstdint>
#include <string>

namespace cudal1::vgpu {

//! What a driver says about its GPU.
struct DeviceFacts {
  std::string name;                //!< "NVIDIA H100 80GB HBM3"
  std::string compute_capability;  //!< "9.0"
  std::int64_t multiprocessors = 0;
  double clock_ghz = 0;
  std::int64_t l2_bytes = 0;
  double dram_bytes_per_second = 0;
};

struct MatchingProfile {
  std::string text;    //!< a file as in gpus/
  std::string origin;  //!< for people: "h200", or what it was made from
};

//! The profile of this name and number of multiprocessors. Where there is none: the one nearest in compute capability
//! and bandwidth, with the numbers that the driver knows in place of its own.
MatchingProfile profile_for(const DeviceFacts& device);

}  // namespace cudal1::vgpu
