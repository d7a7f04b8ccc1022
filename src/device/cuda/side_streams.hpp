#pragma once

#include <vector>

#include "device/cuda/driver.hpp"
#include "program/plan.hpp"

namespace cudal1::cuda {

//! Streams of our own, for branches beside the first.
class SideStreams {
 public:
  SideStreams() = default;
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;
  ~SideStreams();

  //! `first`, and as many others as the plan has branches beside it; the others stay until this goes.
  std::vector<CUstream> behind(CUstream first, const Plan& plan);

 private:
  std::vector<CUstream> streams_;
};

}  // namespace cudal1::cuda
