// Keeps what the checks find and lets the launch go on: its results count too.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "device/vgpu/machine/access_observer.hpp"

namespace cudal1::vgpu {

class FindingLog {
 public:
  //! Observers that never throw; the log must outlive them. Each block is watched until its first finding.
  ObserverFactory watch(ObserverFactory checks, Index3 grid);

  //! That of the first block that has one, whatever the order in which blocks ran.
  const std::optional<KernelFault>& first() const { return first_; }

 private:
  friend class LoggedObserver;
  void add(const KernelFault& fault);

  Index3 grid_{1, 1, 1};
  std::mutex mutex_;
  std::optional<KernelFault> first_;
};

}  // namespace cudal1::vgpu
