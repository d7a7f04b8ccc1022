#include "judge/backend_profile.hpp"

#include <fmt/format.h>

namespace cudal1 {
namespace {

//! "sm_90" -> "9.0"
std::string capability_of(const std::string& target) {
  if (!target.starts_with("sm_") || target.size() < 5) return "";
  return fmt::format("{}.{}", target.substr(3, target.size() - 4), target.back());
}

}  // namespace

vgpu::MatchingProfile profile_of(const Backend& backend) {
  const DeviceInfo& info = backend.info();
  return vgpu::profile_for({info.name, capability_of(info.target), info.multiprocessors, info.clock_ghz, info.l2_bytes,
                            backend.peak_bytes_per_second()});
}

}  // namespace cudal1
