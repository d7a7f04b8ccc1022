// What decoding and training need of an NVIDIA GPU: kernels compiled by NVRTC and launched by the driver on the stream
// that ATen uses, and CUDA Graphs of both.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "accelerator/torch_stream.hpp"
#include "device/cuda/cuda_device.hpp"
#include "model/transformer/gpu/gpu_runtime.hpp"

namespace cudal1 {

class CudaRuntime final : public GpuRuntime {
 public:
  //! Throws Error where there is no such GPU, or PyTorch has no CUDA.
  explicit CudaRuntime(int gpu);
  ~CudaRuntime() override;

  at::Device device() const override { return {at::kCUDA, static_cast<at::DeviceIndex>(gpu_)}; }
  std::optional<std::int64_t> free_bytes() const override;
  void load_kernels(const std::string& source, const std::vector<std::string>& kernels) override;
  void on_stream(const std::function<void()>& work) override;
  void launch(const KernelLaunch& launch) override;
  std::unique_ptr<RecordedWork> record(const std::function<void()>& work) override;
  void synchronise() override;
  void wait_for_everybody() override;

 private:
  struct Function {
    CUfunction handle = nullptr;
    std::vector<std::size_t> parameter_bytes;
  };
  static Function function_of(const cuda::Module& module, const std::string& symbol);
  void enter() const;

  int gpu_;
  CUcontext context_;
  std::unique_ptr<cuda::Module> module_;
  std::map<std::string, Function> functions_;
  std::unique_ptr<TorchStream> stream_;
};

}  // namespace cudal1
