#include "graph/backend_flags.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace cudal1 {

BackendFlags::Saved BackendFlags::current() {
  const at::Context& context = at::globalContext();
  return {context.allowTF32CuDNN(),
          context.allowTF32CuBLAS(),
          context.userEnabledCuDNN(),
          context.userEnabledMkldnn(),
          context.benchmarkCuDNN(),
          context.deterministicCuDNN(),
          context.deterministicAlgorithms(),
          context.deterministicAlgorithmsWarnOnly(),
          context.deterministicFillUninitializedMemory(),
          at::get_num_threads()};
}

BackendFlags::BackendFlags(const ExecutorOptions& options) : on_cuda_(options.device.is_cuda()), saved_(current()) {
  at::Context& context = at::globalContext();
  const PrecisionPolicy precision = options.precision;
  if (on_cuda_) {  // on the CPU these would switch oneDNN's reduced precisions
    context.setAllowTF32CuDNN(precision != PrecisionPolicy::strict);
    context.setAllowTF32CuBLAS(precision == PrecisionPolicy::tf32);
  }
  const bool deterministic = options.variant == ReferenceVariant::deterministic;
  context.setBenchmarkCuDNN(false);
  context.setDeterministicCuDNN(deterministic);
  context.setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  context.setDeterministicFillUninitializedMemory(false);  // it would cost time and change nothing
  const bool plain_kernels = options.variant == ReferenceVariant::no_cudnn;
  context.setUserEnabledCuDNN(!plain_kernels);
  context.setUserEnabledMkldnn(!plain_kernels || on_cuda_);
  if (options.variant == ReferenceVariant::one_thread && !on_cuda_) at::set_num_threads(1);
}

BackendFlags::~BackendFlags() {
  at::Context& context = at::globalContext();
  if (on_cuda_) {
    context.setAllowTF32CuDNN(saved_.tf32_convolution);
    context.setAllowTF32CuBLAS(saved_.tf32_matmul);
  }
  context.setBenchmarkCuDNN(saved_.benchmark_cudnn);
  context.setDeterministicCuDNN(saved_.deterministic_cudnn);
  context.setDeterministicAlgorithms(saved_.deterministic, saved_.deterministic_warn_only);
  context.setDeterministicFillUninitializedMemory(saved_.fill_uninitialized);
  context.setUserEnabledCuDNN(saved_.cudnn);
  context.setUserEnabledMkldnn(saved_.onednn);
  if (at::get_num_threads() != saved_.threads) at::set_num_threads(saved_.threads);
}

CudnnSwitch::CudnnSwitch(bool off) : before_(at::globalContext().userEnabledCuDNN()) {
  if (off) at::globalContext().setUserEnabledCuDNN(false);
}

CudnnSwitch::~CudnnSwitch() { at::globalContext().setUserEnabledCuDNN(before_); }

}  // namespace cudal1
