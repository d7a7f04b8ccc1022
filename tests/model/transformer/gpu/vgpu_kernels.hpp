// Kernels of a text on the virtual GPU, with all of its checks, on the test's own memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::testing {

using VgpuArgument = std::variant<std::span<std::byte>, std::int32_t>;

class VgpuKernels {
 public:
  //! Throws Error where it does not compile.
  VgpuKernels(const std::string& source, const std::vector<std::string>& names);
  //! Memory of arguments may overlap. Throws KernelFault for whatever the virtual GPU finds wrong.
  void launch(const std::string& kernel, std::array<std::uint32_t, 2> grid, std::uint32_t threads,
              const std::vector<VgpuArgument>& arguments) const;

 private:
  std::map<std::string, vgpu::Kernel> kernels_;
};

//! Empty, or why there is no virtual GPU here.
std::string why_no_vgpu();

}  // namespace cudal1::testing
