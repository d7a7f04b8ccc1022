#include "device/vgpu/model/model_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/gpu_number.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* model_format = "cudal1.gpu_model";
constexpr std::int64_t model_version = 3;

using P = ModelParameters;
constexpr std::array<ModelParameter, 19> all{{
    {"soft_maximum_exponent", &P::soft_maximum_exponent, 1.2, 12},
    {"phase_share", &P::phase_share, 0.01, 0.95},
    {"pipe_efficiency", &P::pipe_efficiency, 0.3, 1},
    {"issue_efficiency", &P::issue_efficiency, 0.3, 1},
    {"l1_hit_share", &P::l1_hit_share, 0.01, 1},
    {"store_sector_clocks", &P::store_sector_clocks, 0.1, 8},
    {"store_line_clocks", &P::store_line_clocks, 0.1, 8},
    {"l2_efficiency", &P::l2_efficiency, 0.3, 1.5},
    {"eviction_share", &P::eviction_share, 0.01, 1},
    {"write_back_share", &P::write_back_share, 0.01, 1},
    {"latency_weight", &P::latency_weight, 0.1, 4},
    {"dram_latency_weight", &P::dram_latency_weight, 0.3, 4},
    {"barrier_cycles", &P::barrier_cycles, 2, 400},
    {"block_start_cycles", &P::block_start_cycles, 50, 4000},
    {"block_dispatch_cycles", &P::block_dispatch_cycles, 5, 1000},
    {"warp_dispatch_cycles", &P::warp_dispatch_cycles, 0.5, 100},
    {"tail_share", &P::tail_share, 0.01, 1},
    {"atomics_per_clock", &P::atomics_per_clock, 4, 512},
    {"busiest_atomics_per_clock", &P::busiest_atomics_per_clock, 0.1, 32},
}};

}  // namespace

std::span<const ModelParameter> model_parameters() { return all; }

ModelParameters parse_model(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonPlace root(document, file);
  expect_format(root, model_format, model_version);
  root.allow_keys({"format", "version", "parameters"});
  const JsonPlace numbers = root.at("parameters");
  ModelParameters parameters;
  for (const ModelParameter& parameter : all) {
    const JsonPlace place = numbers.at(parameter.name);
    const double value = number_with_reason(place);
    if (value < parameter.low || value > parameter.high)
      place.fail(fmt::format("expected {} to {}, found {}", parameter.low, parameter.high, value));
    parameters.*parameter.value = value;
  }
  for (const auto& [key, ignored] : numbers.json().items())
    if (std::ranges::none_of(all, [&](const ModelParameter& parameter) { return key == parameter.name; }))
      numbers.fail(fmt::format("unknown key \"{}\"", key));
  return parameters;
}

ModelParameters load_model(const std::string& path) {
  const GpuFile file = read_gpu_file(path);
  return parse_model(file.text, file.shown);
}

const ModelParameters& built_in_model() {
  static const ModelParameters model = load_model();
  return model;
}

std::string model_file(const ModelParameters& parameters, const std::string& why) {
  std::string text =
      fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"parameters\": {{\n", model_format, model_version);
  for (const ModelParameter& parameter : all)
    text += fmt::format("    \"{}\": {{\"value\": {:.4g}, \"why\": {}}}{}\n", parameter.name,
                        parameters.*parameter.value, nlohmann::json(why).dump(), &parameter == &all.back() ? "" : ",");
  return text + "  }\n}\n";
}

}  // namespace cudal1::vgpu
