// A launch that was both counted and measured: what the model is fitted to. One JSON object a line in a file.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/model/kernel_shape.hpp"

namespace cudal1::vgpu {

struct Observation {
  std::string family;   //!< kernels that do the same: "tiled_gemm"; its hash decides the half it belongs to
  std::string variant;  //!< "tile32_k1024"
  KernelShape shape;
  KernelCounters counters;
  double measured_ms = 0;  //!< of one launch on the device, launch included, L2 as shape.cached_bytes says
};

//! {"family", "variant", "measured_ms", "shape", "counters"}; what is zero may be left out of the counters.
nlohmann::json to_json(const Observation& observation);
nlohmann::json to_json(const KernelShape& shape);
nlohmann::json to_json(const KernelCounters& counters);

//! Throws Error with file, line and place.
Observation parse_observation(const std::string& line, const std::string& file);
std::vector<Observation> read_observations(const std::filesystem::path& file);

}  // namespace cudal1::vgpu
