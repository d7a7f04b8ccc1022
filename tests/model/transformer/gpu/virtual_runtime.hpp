// A GpuRuntime without a GPU: kernels on the virtual one, ATen on the CPU.
#pragma once

#include <memory>

#include "model/transformer/gpu/gpu_runtime.hpp"
#include "vgpu_kernels.hpp"

namespace cudal1::testing {

class VirtualRuntime final : public GpuRuntime {
 public:
  at::Device device() const override { return at::kCPU; }
  std::optional<std::int64_t> free_bytes() const override { return free; }
  void load_kernels(const std::string& source, const std::vector<std::string>& kernels) override {
    kernels_ = std::make_unique<VgpuKernels>(source, kernels);
  }
  void on_stream(const std::function<void()>& work) override { work(); }
  void launch(const KernelLaunch& launch) override {
    std::vector<VgpuArgument> arguments;
    for (const KernelOperand& argument : launch.arguments) arguments.push_back(argument_of(argument));
    kernels_->launch(launch.kernel, launch.grid, launch.threads, arguments);
  }
  //! What is recorded runs when it is played, and not before.
  std::unique_ptr<RecordedWork> record(const std::function<void()>& work) override {
    struct Again final : RecordedWork {
      explicit Again(std::function<void()> recorded) : again(std::move(recorded)) {}
      void play() override { again(); }
      std::function<void()> again;
    };
    return std::make_unique<Again>(work);
  }
  void synchronise() override {}
  void wait_for_everybody() override {}

  std::optional<std::int64_t> free;

 private:
  //! From the tensor's first element to the end of its memory: what is beyond is another's.
  static VgpuArgument argument_of(const KernelOperand& argument) {
    const auto* tensor = std::get_if<at::Tensor>(&argument);
    if (!tensor) return std::get<std::int32_t>(argument);
    return std::span(static_cast<std::byte*>(tensor->data_ptr()), tensor->nbytes());
  }

  std::unique_ptr<VgpuKernels> kernels_;
};

}  // namespace cudal1::testing
