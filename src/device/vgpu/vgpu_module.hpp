// A compiled program, ready for the virtual GPU: PTX parsed and decoded, its tables in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/model/kernel_traits.hpp"

namespace cudal1::vgpu {

//! A kernel with what the text says about how it may be launched.
struct LoadedKernel {
  Kernel kernel;
  KernelTraits traits;                //!< for the timing model
  std::uint32_t most_threads = 1024;  //!< a block, from __launch_bounds__
};

//! Throws DeviceError(unsupported) for what the virtual GPU does not know, by name and line.
class VgpuModule {
 public:
  explicit VgpuModule(const CompiledModule& compiled);

  //! Null where the program has no such kernel. `name` as the program writes it.
  const LoadedKernel* find(const std::string& name) const;
  //! Tables of constants, which every kernel may read.
  void add_tables(GlobalMemory& memory) const;

 private:
  void place_tables();

  ptx::Module ptx_;
  std::map<std::string, LoadedKernel> kernels_;
  struct Table {
    std::string name;
    std::uint64_t address;
    std::vector<std::byte> bytes;
  };
  std::vector<Table> tables_;
  VariableAddresses addresses_;
};

}  // namespace cudal1::vgpu
