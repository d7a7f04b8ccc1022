// Finds the model's parameters from launches that were measured, and says how well it does on others.
#pragma once

#include <string>
#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/model/model_parameters.hpp"
#include "device/vgpu/model/observation.hpp"

namespace cudal1::vgpu {

//! Whether the model may be fitted to this family: the first byte of the SHA-256 of its name is even. The others are
//! what it is judged by.
bool is_for_fitting(const std::string& family);

struct Halves {
  std::vector<Observation> fitted, unseen;
};
Halves split(const std::vector<Observation>& observations);

//! What two events around the launch would say.
double predicted_ms(const GpuProfile& gpu, const ModelParameters& model, const Observation& observation);

struct FitQuality {
  std::size_t families = 0, launches = 0;
  double spearman = 0;         //!< rank correlation of predicted and measured times, all launches together
  double family_spearman = 0;  //!< mean over families of three and more launches of the correlation inside them
  double median_error = 0;     //!< of |predicted / measured - 1|
};
FitQuality quality_of(const GpuProfile& gpu, const ModelParameters& model,
                      const std::vector<Observation>& observations);

//! From `start`, one parameter after another, within the parameters' ranges. Families count alike, however many
//! launches they have, and parameters that no launch depends on stay where they are. Looks at all it is given: split
//! first.
ModelParameters fit(const GpuProfile& gpu, const ModelParameters& start, const std::vector<Observation>& observations);

//! Each family as predicted by what a fit to the others finds: how well the model does on families it has not seen,
//! from these alone.
FitQuality cross_validated(const GpuProfile& gpu, const ModelParameters& start,
                           const std::vector<Observation>& observations);

//! Ranks with ties shared; 0 where one of them does not vary.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace cudal1::vgpu
