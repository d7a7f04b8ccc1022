// Which tasks are worth training on: those where programs differ in speed.
#pragma once

#include <cstddef>
#include <vector>

namespace cudal1 {

//! The quantile of these speeds, from 0 to 1, by linear interpolation between neighbours; 0 for none.
double speed_quantile(std::vector<double> speeds, double share);

struct SpeedSpread {
  std::size_t programs = 16;  //!< that must have been measured
  double least_ratio = 1.3;   //!< of the 90th percentile to the 10th
};

//! `speeds`: one positive number for each random program that ran and was right, such as its speed-up.
bool is_worth_training(const std::vector<double>& speeds, const SpeedSpread& wanted = {});

}  // namespace cudal1
