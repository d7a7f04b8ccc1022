#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstddef>

namespace cudal1 {

//! Processes that compute on the same cores do not take them from each other.
class ShareOfThreads {
 public:
  explicit ShareOfThreads(std::size_t processes) : all_(at::get_num_threads()), is_alone_(processes == 1) {
    if (!is_alone_) at::set_num_threads(std::max(1, all_ / static_cast<int>(processes)));
  }
  ~ShareOfThreads() {
    if (!is_alone_) at::set_num_threads(all_);
  }
  ShareOfThreads(const ShareOfThreads&) = delete;
  ShareOfThreads& operator=(const ShareOfThreads&) = delete;

 private:
  int all_;
  bool is_alone_;
};

}  // namespace cudal1
