#include "device/vgpu/model/matching_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {
namespace {

using nlohmann::json;

//! "NVIDIA A100-SXM4-80GB" -> nvidia, a100, sxm4, 80gb
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0)
      words.back() += static_cast<char>(std::tolower(c));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

//! "h200" is a word of the device's name, "rtx4090" two of them. A name that only begins like it is another GPU's.
bool is_named(const std::vector<std::string>& words, const std::string& profile) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == profile || (i + 1 < words.size() && words[i] + words[i + 1] == profile)) return true;
  return false;
}

bool is_of(const GpuProfile& profile, const DeviceFacts& device) {
  return is_named(words_of(device.name), profile.name) && profile.chip.multiprocessors == device.multiprocessors;
}

//! Generations count more than sizes: they differ in what a multiprocessor can do.
double distance(const GpuProfile& profile, const DeviceFacts& device) {
  const double generations =
      std::abs(std::atof(profile.compute_capability.c_str()) - std::atof(device.compute_capability.c_str()));
  if (device.dram_bytes_per_second <= 0) return 100 * generations;
  return 100 * generations + std::abs(std::log(profile.memory.dram_bytes_per_second / device.dram_bytes_per_second));
}

GpuProfile nearest_profile(const DeviceFacts& device) {
  std::vector<GpuProfile> profiles;
  for (const std::string& name : profile_names()) profiles.push_back(find_profile(name));
  return *std::ranges::min_element(profiles, {}, [&](const GpuProfile& p) { return distance(p, device); });
}

void set_number(json& document, const char* section, const char* key, double value) {
  if (value > 0) document[section][key] = {{"value", value}, {"why", "the device's driver says so"}};
}

std::string adapted(const GpuProfile& base, const DeviceFacts& device) {
  json document = json::parse(embedded_gpu_files().at(base.name));
  document["title"] = device.name;
  set_number(document, "chip", "multiprocessors", static_cast<double>(device.multiprocessors));
  set_number(document, "chip", "clock_ghz", device.clock_ghz);
  set_number(document, "memory", "l2_bytes", static_cast<double>(device.l2_bytes));
  set_number(document, "memory", "dram_bytes_per_second", device.dram_bytes_per_second);
  return document.dump(1);
}

}  // namespace

MatchingProfile profile_for(const DeviceFacts& device) {
  for (const std::string& name : profile_names())
    if (is_of(find_profile(name), device)) return {std::string(embedded_gpu_files().at(name)), name};
  const GpuProfile base = nearest_profile(device);
  return {adapted(base, device),
          fmt::format("{}, with the clock, sizes and bandwidth that the driver of {} names", base.name, device.name)};
}

}  // namespace cudal1::vgpu
