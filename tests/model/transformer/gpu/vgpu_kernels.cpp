#include "vgpu_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "base/result.hpp"
#include "compile/clang_compiler.hpp"
#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::testing {
namespace {

//! Addresses of kernels are those of the host. Parts that overlap become one.
vgpu::GlobalMemory memory_of(const std::vector<VgpuArgument>& arguments) {
  std::map<std::uint64_t, std::uint64_t> ends;  // by beginning
  for (const VgpuArgument& argument : arguments)
    if (const auto* bytes = std::get_if<std::span<std::byte>>(&argument); bytes && !bytes->empty()) {
      const auto begin = reinterpret_cast<std::uint64_t>(bytes->data());
      std::uint64_t& end = ends[begin];
      end = std::max(end, begin + bytes->size());
    }
  vgpu::GlobalMemory memory;
  for (auto part = ends.begin(); part != ends.end();) {
    const std::uint64_t begin = part->first;
    std::uint64_t end = part->second;
    for (++part; part != ends.end() && part->first < end; ++part) end = std::max(end, part->second);
    memory.add({begin, end - begin, reinterpret_cast<std::byte*>(begin), "memory", true});
  }
  return memory;
}

std::vector<std::byte> parameters_of(const vgpu::Kernel& kernel, const std::vector<VgpuArgument>& arguments) {
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  std::vector<std::uint64_t> offsets;
  for (const auto& [name, offset] : kernel.parameter_offsets) offsets.push_back(offset);
  std::ranges::sort(offsets);
  if (offsets.size() != arguments.size()) throw Error("the kernel takes another number of arguments");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::byte* to = parameters.data() + offsets[i];
    if (const auto* bytes = std::get_if<std::span<std::byte>>(&arguments[i])) {
      const std::byte* address = bytes->data();
      std::memcpy(to, &address, sizeof address);
    } else {
      std::memcpy(to, &std::get<std::int32_t>(arguments[i]), sizeof(std::int32_t));
    }
  }
  return parameters;
}

}  // namespace

VgpuKernels::VgpuKernels(const std::string& source, const std::vector<std::string>& names) {
  const auto compiled = ClangCompiler().compile({source, names, "sm_90"});
  if (!compiled) throw Error(compiled.failure().message + "\n" + compiled.failure().details);
  const ptx::Module module = ptx::parse(compiled.value().binary);
  for (const std::string& name : names)
    kernels_.emplace(name, vgpu::decode(module, *module.find(compiled.value().symbols.at(name)), {}));
}

void VgpuKernels::launch(const std::string& name, std::array<std::uint32_t, 2> grid, std::uint32_t threads,
                         const std::vector<VgpuArgument>& arguments) const {
  const vgpu::Kernel& kernel = kernels_.at(name);
  const vgpu::GlobalMemory memory = memory_of(arguments);
  const std::vector<std::byte> parameters = parameters_of(kernel, arguments);
  vgpu::ScratchMarks scratch;
  vgpu::Launch launch{&kernel, {grid[0], grid[1], 1}, {threads, 1, 1}, 0, parameters};
  launch.counting = false;
  launch.observers = vgpu::make_observers({}, {kernel.name, launch.grid, launch.block, kernel.static_shared_bytes,
                                               kernel.local_bytes, &memory, &scratch, &kernel.shared_arrays});
  vgpu::run_grid(launch, memory);
}

std::string why_no_vgpu() {
  return find_clang() ? std::string() : "no clang on this machine: " + clang_search_description();
}

}  // namespace cudal1::testing
