// A launch that was both counted and measured: what the model is fitted to. Two files, one JSON object a line.
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
  double measured_ms = 0;  //!< of one launch between two events, L2 as shape.cached_bytes says
};

//! {"family", "variant", "shape", "counters"}; what is zero may be left out of the counters.
nlohmann::json counted_json(const Observation& observation);
nlohmann::json to_json(const KernelShape& shape);
nlohmann::json to_json(const KernelCounters& counters);

//! Without a time. Throws Error with file, line and place.
Observation parse_counted(const std::string& line, const std::string& file);

//! Lines that were counted, with the times of the lines of the same family and variant:
//! {"family", "variant", "measured_ms", …}; those without a time are left out. Throws Error with file, line and place.
std::vector<Observation> read_observations(const std::filesystem::path& counted, const std::filesystem::path& measured);

}  // namespace cudal1::vgpu
