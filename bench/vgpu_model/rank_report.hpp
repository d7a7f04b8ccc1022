// How well the timing model does, as a file: both halves, and every family with its variants.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "device/vgpu/model/model_fit.hpp"

namespace cudal1::vgpu {

//! `crossed`: what cross-validation inside the fitted half found.
nlohmann::json rank_report(const GpuProfile& gpu, const ModelParameters& model, const FitQuality& crossed,
                           const std::vector<Observation>& observations);

}  // namespace cudal1::vgpu
