#include "device/cuda/side_streams.hpp"

#include "program/step_branches.hpp"

namespace cudal1::cuda {

SideStreams::~SideStreams() {
  for (const CUstream stream : streams_) driver().cuStreamDestroy(stream);
}

std::vector<CUstream> SideStreams::behind(CUstream first, const Plan& plan) {
  const std::size_t count = branch_count(plan);
  while (streams_.size() + 1 < count)
    check(driver().cuStreamCreate(&streams_.emplace_back(nullptr), CU_STREAM_NON_BLOCKING), "make a stream");
  std::vector<CUstream> all{first};
  all.insert(all.end(), streams_.begin(), streams_.begin() + static_cast<std::ptrdiff_t>(count - 1));
  return all;
}

}  // namespace cudal1::cuda
