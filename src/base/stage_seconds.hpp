// How long the stages of some work took, by name: for whoever asks where the time went.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/seconds_since.hpp"

namespace cudal1 {

//! For one thread. Stages do not lie inside each other.
class StageSeconds {
 public:
  //! What happens until this goes belongs to the stage.
  class Section {
   public:
    explicit Section(double& seconds) : seconds_(seconds) {}
    ~Section() { seconds_ += seconds_since(begin_); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    double& seconds_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  [[nodiscard]] Section time(const std::string& stage) { return Section(seconds_[stage]); }

  //! Adds up what came since the last time, and begins anew.
  std::map<std::string, double> take() { return std::exchange(seconds_, {}); }

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace cudal1
