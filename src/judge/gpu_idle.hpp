// How much of a run's time the GPU had nothing to do, from the turns in its ledger.
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "judge/gpu_ledger.hpp"

namespace cudal1 {

//! Of some stretch of time. Shares are from 0 to 1.
struct GpuIdle {
  double seconds = 0.0;         //!< that it lasted
  double share = 0.0;           //!< without texts written, gradients or a measurement
  double unlocked_share = 0.0;  //!< without anybody who uses the GPU at all: checking programs counts as use
};

class GpuIdleMeter {
 public:
  //! The first stretch begins now.
  explicit GpuIdleMeter(const std::filesystem::path& ledger, std::function<double()> now_s = GpuLedger::now_s)
      : reader_(ledger), now_s_(std::move(now_s)), begin_s_(now_s_()) {}

  //! Since the last call. Turns that are not over yet do not count as use.
  GpuIdle next();
  //! The first stretch begins again, and what was before is forgotten.
  void restart();
  //! Over all stretches; seconds are 0 where there was none.
  GpuIdle over_all() const;

 private:
  GpuLedgerReader reader_;
  std::function<double()> now_s_;
  double begin_s_ = 0.0;
  double seconds_ = 0.0, idle_s_ = 0.0, unlocked_s_ = 0.0;
};

}  // namespace cudal1
