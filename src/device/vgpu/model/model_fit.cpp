#include "device/vgpu/model/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/hash.hpp"
#include "device/vgpu/model/prediction.hpp"

namespace cudal1::vgpu {
namespace {

double log_ratio(const GpuProfile& gpu, const ModelParameters& model, const Observation& observation) {
  return std::log(predicted_ms(gpu, model, observation) / observation.measured_ms);
}

//! How far the model is off, every family alike; a little more for parameters far from their start, so that those
//! which hardly matter stay.
class Loss {
 public:
  Loss(const GpuProfile& gpu, const ModelParameters& start, const std::vector<Observation>& observations)
      : gpu_(gpu), start_(start), observations_(observations) {
    for (const Observation& observation : observations) ++launches_[observation.family];
  }

  double operator()(const ModelParameters& model) const {
    double sum = 0;
    for (const Observation& observation : observations_)
      sum += std::abs(log_ratio(gpu_, model, observation)) / static_cast<double>(launches_.at(observation.family));
    return sum / static_cast<double>(std::max<std::size_t>(launches_.size(), 1)) + distance(model);
  }

 private:
  double distance(const ModelParameters& model) const {
    constexpr double weight = 0.01;
    double sum = 0;
    for (const ModelParameter& parameter : model_parameters()) {
      const double factor = std::log(model.*parameter.value / (start_.*parameter.value));
      sum += factor * factor;
    }
    return weight * sum;
  }

  const GpuProfile& gpu_;
  const ModelParameters start_;
  const std::vector<Observation>& observations_;
  std::map<std::string, std::size_t> launches_;
};

//! Tries the parameter a factor up and down; true when that helped.
bool improve(const Loss& loss, const ModelParameter& parameter, double factor, ModelParameters& model, double& best) {
  const double before = model.*parameter.value;
  for (const double candidate : {before * factor, before / factor}) {
    model.*parameter.value = std::clamp(candidate, parameter.low, parameter.high);
    if (const double now = loss(model); now < best) {
      best = now;
      return true;
    }
  }
  model.*parameter.value = before;
  return false;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) rank[order[i]] = static_cast<double>(first + last) / 2;
    first = last + 1;
  }
  return rank;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Times {
  std::vector<double> predicted, measured;
};

}  // namespace

bool is_for_fitting(const std::string& family) {
  return std::stoi(sha256_hex(family).substr(0, 2), nullptr, 16) % 2 == 0;
}

Halves split(const std::vector<Observation>& observations) {
  Halves halves;
  for (const Observation& observation : observations)
    (is_for_fitting(observation.family) ? halves.fitted : halves.unseen).push_back(observation);
  return halves;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double x_mean = mean(x), y_mean = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double predicted_ms(const GpuProfile& gpu, const ModelParameters& model, const Observation& observation) {
  return gpu.costs.call_us / 1e3 + predict(gpu, observation.shape, observation.counters, model).milliseconds;
}

namespace {

//! `predict` says what the model makes of an observation.
template <class Predict>
FitQuality quality_by(const std::vector<Observation>& observations, Predict predict) {
  Times all;
  std::map<std::string, Times> families;
  std::vector<double> errors, inside;
  for (const Observation& observation : observations) {
    const double predicted = predict(observation);
    for (Times* times : {&all, &families[observation.family]}) {
      times->predicted.push_back(predicted);
      times->measured.push_back(observation.measured_ms);
    }
    errors.push_back(std::abs(predicted / observation.measured_ms - 1));
  }
  for (const auto& [name, times] : families)
    if (times.measured.size() >= 3) inside.push_back(spearman(times.predicted, times.measured));
  return {families.size(), observations.size(), spearman(all.predicted, all.measured), mean(inside), median(errors)};
}

}  // namespace

FitQuality quality_of(const GpuProfile& gpu, const ModelParameters& model,
                      const std::vector<Observation>& observations) {
  return quality_by(observations,
                    [&](const Observation& observation) { return predicted_ms(gpu, model, observation); });
}

FitQuality cross_validated(const GpuProfile& gpu, const ModelParameters& start,
                           const std::vector<Observation>& observations) {
  std::map<std::string, ModelParameters> without;
  for (const Observation& left_out : observations) {
    if (without.contains(left_out.family)) continue;
    std::vector<Observation> others;
    std::ranges::copy_if(observations, std::back_inserter(others),
                         [&](const Observation& other) { return other.family != left_out.family; });
    without[left_out.family] = fit(gpu, start, others);
  }
  return quality_by(observations, [&](const Observation& observation) {
    return predicted_ms(gpu, without.at(observation.family), observation);
  });
}

ModelParameters fit(const GpuProfile& gpu, const ModelParameters& start, const std::vector<Observation>& observations) {
  const Loss loss(gpu, start, observations);
  ModelParameters model = start;
  double best = loss(model);
  constexpr int most_rounds = 400;
  double factor = 1.5;
  for (int round = 0; round < most_rounds && factor > 1.005; ++round) {
    bool helped = false;
    for (const ModelParameter& parameter : model_parameters())
      helped = improve(loss, parameter, factor, model, best) || helped;
    if (!helped) factor = std::sqrt(factor);
  }
  return model;
}

}  // namespace cudal1::vgpu
