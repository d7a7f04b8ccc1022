// PyTorch's global switches, set for the duration of a run and put back afterwards.
#pragma once

#include <c10/util/Exception.h>

#include "graph/executor.hpp"

namespace cudal1 {

//! The switches are global to the process: one run at a time.
class BackendFlags {
 public:
  explicit BackendFlags(const ExecutorOptions& options);
  ~BackendFlags();
  BackendFlags(const BackendFlags&) = delete;
  BackendFlags& operator=(const BackendFlags&) = delete;

 private:
  //! Deterministic mode warns about every kernel that has no deterministic form; nobody reads that here.
  class Silence : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };

  struct Saved {
    bool tf32_convolution, tf32_matmul, cudnn, onednn, benchmark_cudnn, deterministic_cudnn, deterministic;
    bool deterministic_warn_only, fill_uninitialized;
    int threads;
  };
  static Saved current();

  bool on_cuda_;
  Saved saved_;
  Silence silence_;
  c10::WarningUtils::WarningHandlerGuard warnings_{&silence_};
};

//! Off for a while, where that is wanted.
class CudnnSwitch {
 public:
  explicit CudnnSwitch(bool off);
  ~CudnnSwitch();
  CudnnSwitch(const CudnnSwitch&) = delete;
  CudnnSwitch& operator=(const CudnnSwitch&) = delete;

 private:
  bool before_;
};

}  // namespace cudal1
