#include "rank_report.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "device/vgpu/model/prediction.hpp"

namespace cudal1::vgpu {
namespace {

using nlohmann::json;

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

//! A few digits, so that the file reads well and does not change with the last bit.
json to_json(const FitQuality& quality) {
  return {{"families", quality.families},
          {"variants", quality.launches},
          {"spearman", rounded(quality.spearman, 1e-4)},
          {"spearman_inside_families", rounded(quality.family_spearman, 1e-4)},
          {"median_error", rounded(quality.median_error, 1e-4)}};
}

json variant_row(const GpuProfile& gpu, const ModelParameters& model, const Observation& observation) {
  const KernelPrediction prediction = predict(gpu, observation.shape, observation.counters, model);
  return {{"variant", observation.variant},
          {"measured_us", rounded(1e3 * observation.measured_ms, 0.01)},
          {"predicted_us", rounded(1e3 * predicted_ms(gpu, model, observation), 0.01)},
          {"bound", prediction.bound}};
}

json family_row(const GpuProfile& gpu, const ModelParameters& model, const std::vector<Observation>& family) {
  const FitQuality quality = quality_of(gpu, model, family);
  json variants = json::array();
  for (const Observation& observation : family) variants.push_back(variant_row(gpu, model, observation));
  return {{"family", family.front().family},
          {"half", is_for_fitting(family.front().family) ? "fitted" : "unseen"},
          {"spearman", rounded(quality.spearman, 1e-4)},
          {"median_error", rounded(quality.median_error, 1e-4)},
          {"variants", variants}};
}

}  // namespace

json rank_report(const GpuProfile& gpu, const ModelParameters& model, const FitQuality& crossed,
                 const std::vector<Observation>& observations) {
  std::map<std::string, std::vector<Observation>> families;
  for (const Observation& observation : observations) families[observation.family].push_back(observation);
  const Halves halves = split(observations);
  json rows = json::array();
  for (const auto& [name, family] : families) rows.push_back(family_row(gpu, model, family));
  return {{"command", "bench/vgpu_model.sh"},
          {"gpu", gpu.title},
          {"unseen", to_json(quality_of(gpu, model, halves.unseen))},
          {"fitted", to_json(quality_of(gpu, model, halves.fitted))},
          {"cross_validated", to_json(crossed)},
          {"all", to_json(quality_of(gpu, model, observations))},
          {"rows", rows}};
}

}  // namespace cudal1::vgpu
