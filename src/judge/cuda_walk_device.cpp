#include "judge/cuda_walk_device.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/driver.hpp"
#include "judge/walk_kernels.hpp"

namespace cudal1 {
namespace {

class CudaWalkDevice : public WalkDevice {
 public:
  CudaWalkDevice(int ordinal, const CompiledModule& kernels)
      : context_(cuda::use_primary_context(ordinal)),
        most_blocks_(static_cast<std::uint32_t>(cuda::device_info(ordinal).multiprocessors *
                                                cuda::most_resident_threads(ordinal) /
                                                walk_kernels::threads_of_a_block)),
        module_(kernels.binary) {
    for (const auto& [name, symbol] : kernels.symbols) functions_[name] = module_.function(symbol);
  }

  std::uint32_t most_blocks() const override { return most_blocks_; }

 private:
  void run(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) override {
    // A thread that has not worked with the GPU yet has no context.
    cuda::check(cuda::driver().cuCtxSetCurrent(context_), "use the context");
    CUlaunchConfig config{};  // on the default stream
    config.gridDimX = blocks;
    config.blockDimX = walk_kernels::threads_of_a_block;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    std::vector<std::uint64_t> values;
    for (const WalkArgument& argument : arguments) values.push_back(argument.bits);
    std::vector<void*> parameters;
    for (std::uint64_t& value : values) parameters.push_back(&value);
    cuda::check(cuda::driver().cuLaunchKernelEx(&config, functions_.at(kernel), parameters.data(), nullptr),
                fmt::format("walk over the judge's tensors ('{}')", kernel));
  }

  CUcontext context_;
  std::uint32_t most_blocks_;
  cuda::Module module_;
  std::map<std::string, CUfunction> functions_;
};

}  // namespace

std::shared_ptr<WalkDevice> make_cuda_walk_device(int ordinal, const CompiledModule& kernels) {
  return std::make_shared<CudaWalkDevice>(ordinal, kernels);
}

}  // namespace cudal1
