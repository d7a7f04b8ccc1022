#include "cli/gpu_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result.hpp"
#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1 {
namespace {

//! Empty where there is such a GPU.
std::string why_no_gpu(const std::string& name_or_path) try {
  vgpu::find_profile(name_or_path);
  return {};
} catch (const Error& error) {
  return error.what();
}

}  // namespace

void add_gpu_option(CLI::App& command, std::string& gpu) {
  const std::string known = fmt::format("{}", fmt::join(vgpu::profile_names(), ", "));
  command
      .add_option("--gpu", gpu,
                  fmt::format("Whose times the virtual GPU predicts: {} or a file (default: h200)", known))
      ->check(&why_no_gpu);
}

}  // namespace cudal1
