// How much the GPU has to do while a run trains: its ledger (judge/gpu_ledger.hpp), and what follows from it.
#pragma once

#include <functional>
#include <optional>

#include "base/files.hpp"
#include "judge/gpu_idle.hpp"

namespace cudal1 {

class GpuWatch {
 public:
  //! Before the first lock is made: locks of this process and its children write to the ledger from then on. It is the
  //! one that the environment names; else one that goes with this object where a GPU is used, and none where it is not.
  //! Throws Error.
  explicit GpuWatch(bool uses_gpu);
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  //! For a course (train/course/training_course.hpp). This must outlive what is returned.
  std::function<std::optional<GpuIdle>()> asker();
  //! Of all steps of stage 3 since this began; nothing where there was none or nobody knows.
  std::optional<GpuIdle> over_all() const;

 private:
  TemporaryFolder folder_;
  std::optional<GpuIdleMeter> meter_;
  bool names_ledger_ = false;  //!< the environment, by our doing
  bool has_begun_ = false;
};

}  // namespace cudal1
