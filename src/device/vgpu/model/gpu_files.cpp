#include "device/vgpu/model/gpu_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {

GpuFile read_gpu_file(const std::string& name_or_path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json"))
    return {read_file(name_or_path, most_bytes), name_or_path};
  const auto found = embedded_gpu_files().find(name_or_path);
  if (found == embedded_gpu_files().end())
    throw Error(fmt::format("there is no GPU profile '{}'; there are {}, or give the path of a file", name_or_path,
                            fmt::join(profile_names(), ", ")));
  return {std::string(found->second), fmt::format("gpus/{}.json", name_or_path)};
}

}  // namespace cudal1::vgpu
