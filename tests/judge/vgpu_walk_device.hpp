// The judge's walks on the virtual GPU, over tensors of the host: any access outside of them is an error.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compile/clang_compiler.hpp"
#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/vgpu_module.hpp"
#include "judge/walk_device.hpp"
#include "judge/walk_kernels.hpp"

namespace cudal1::testing {

inline CompiledModule compiled_walk_kernels() {
  ClangCompiler compiler;
  auto compiled = compiler.compile({walk_kernels::source(), walk_kernels::names(), compiler.target_for("sm_90")});
  if (!compiled) throw Error(compiled.failure().message + "\n" + compiled.failure().details);
  return std::move(compiled).value();
}

class VgpuWalkDevice : public WalkDevice {
 public:
  //! With few blocks threads take many elements each, as on a GPU those of large tensors do.
  explicit VgpuWalkDevice(std::uint32_t most_blocks) : module_(compiled_walk_kernels()), most_blocks_(most_blocks) {}

  std::uint32_t most_blocks() const override { return most_blocks_; }
  const std::string& last_kernel() const { return last_kernel_; }

 private:
  //! One for tensors that are one and the same.
  static vgpu::GlobalMemory memory_of(std::span<const WalkArgument> arguments) {
    std::map<std::uint64_t, vgpu::Segment> segments;
    for (const WalkArgument& argument : arguments) {
      if (argument.bytes == 0) continue;
      vgpu::Segment& segment = segments[argument.bits];
      segment = {argument.bits, std::max(segment.bytes, argument.bytes), reinterpret_cast<std::byte*>(argument.bits),
                 "tensor", argument.is_written};
    }
    vgpu::GlobalMemory memory;
    for (const auto& [address, segment] : segments) memory.add(segment);
    return memory;
  }

  //! Races and reads of what nobody wrote are errors, too.
  static vgpu::ObserverFactory checks_of(const vgpu::Launch& launch, const std::string& kernel,
                                         const vgpu::GlobalMemory& memory) {
    vgpu::CheckedLaunch checked;
    checked.kernel = kernel;
    checked.grid = launch.grid;
    checked.block = launch.block;
    checked.shared_bytes = launch.kernel->static_shared_bytes;
    checked.local_bytes = launch.kernel->local_bytes;
    checked.memory = &memory;
    checked.arrays = &launch.kernel->shared_arrays;
    return vgpu::make_observers({}, checked);
  }

  void run(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) override {
    last_kernel_ = kernel;
    const vgpu::Kernel& loaded = module_.find(kernel)->kernel;
    if (loaded.parameter_bytes != 8 * arguments.size()) throw Error(kernel + " takes other arguments");
    std::vector<std::byte> parameters(loaded.parameter_bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) std::memcpy(parameters.data() + 8 * i, &arguments[i].bits, 8);
    vgpu::Launch launch;
    launch.kernel = &loaded;
    launch.grid = {blocks, 1, 1};
    launch.block = {walk_kernels::threads_of_a_block, 1, 1};
    launch.parameters = parameters;
    launch.counting = false;
    vgpu::GlobalMemory memory = memory_of(arguments);
    module_.add_tables(memory);
    launch.observers = checks_of(launch, kernel, memory);
    vgpu::run_grid(launch, memory);
  }

  vgpu::VgpuModule module_;
  std::uint32_t most_blocks_;
  std::string last_kernel_;
};

}  // namespace cudal1::testing
