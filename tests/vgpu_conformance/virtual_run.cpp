#include "virtual_run.hpp"

#include <fmt/format.h>

#include <cstring>

#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::conformance {
namespace {

//! Where things lie in global memory: far from each other, so that running over an end is a fault.
constexpr std::uint64_t first_address = std::uint64_t{1} << 32, slot_bytes = std::uint64_t{1} << 30;

//! Buffers, and the module's variables, at addresses of their own.
class AddressSpace {
 public:
  explicit AddressSpace(const ptx::Module& module) {
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
      Bytes& bytes = variables_[variable.name];
      bytes.resize(variable.bytes());
      if (!variable.initial.empty()) std::memcpy(bytes.data(), variable.initial.data(), variable.initial.size());
      variable_addresses_[variable.name] = add(variable.name, bytes, variable.space == ptx::Space::global);
    }
  }

  std::uint64_t add(const std::string& name, Bytes& bytes, bool writable) {
    const std::uint64_t address = next_;
    next_ += slot_bytes;
    memory_.add({address, bytes.size(), bytes.data(), name, writable});
    return address;
  }

  const vgpu::GlobalMemory& memory() const { return memory_; }
  const vgpu::VariableAddresses& variable_addresses() const { return variable_addresses_; }

 private:
  std::uint64_t next_ = first_address;
  vgpu::GlobalMemory memory_;
  std::map<std::string, Bytes> variables_;
  vgpu::VariableAddresses variable_addresses_;
};

Bytes parameters_of(const LaunchSpec& launch, const vgpu::Kernel& kernel,
                    const std::map<std::string, std::uint64_t>& addresses) {
  if (kernel.parameters.size() != launch.arguments.size())
    throw Error(
        fmt::format("{} takes {} arguments, not {}", launch.kernel, kernel.parameters.size(), launch.arguments.size()));
  Bytes bytes(kernel.parameter_bytes);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const std::uint64_t address = argument.buffer.empty() ? 0 : addresses.at(argument.buffer);
    const std::size_t size = argument.buffer.empty() ? argument.number.size() : sizeof address;
    if (size != kernel.parameters[i].bytes())
      throw Error(
          fmt::format("argument {} of {} has {} bytes, not {}", i, launch.kernel, kernel.parameters[i].bytes(), size));
    const void* from = argument.buffer.empty() ? static_cast<const void*>(argument.number.data()) : &address;
    std::memcpy(bytes.data() + kernel.parameter_offsets.at(kernel.parameters[i].name), from, size);
  }
  return bytes;
}

vgpu::KernelCounters run_launch(const LaunchSpec& spec, const vgpu::Kernel& kernel, const Bytes& parameters,
                                const vgpu::GlobalMemory& memory, std::uint64_t sample, bool checked) {
  vgpu::Launch launch;
  launch.kernel = &kernel;
  launch.grid = spec.grid;
  launch.block = spec.block;
  launch.dynamic_shared_bytes = spec.shared_bytes;
  launch.parameters = parameters;
  launch.most_instructions = sample > 0 ? 1'000'000'000 : 100'000'000;
  launch.sample = sample;
  const std::uint64_t shared_bytes = kernel.static_shared_bytes + spec.shared_bytes;
  if (checked)
    launch.observers = vgpu::make_observers(
        {}, {spec.kernel, spec.grid, spec.block, shared_bytes, kernel.local_bytes, &memory, nullptr});
  return vgpu::run_grid(launch, memory);
}

}  // namespace

std::vector<vgpu::KernelCounters> run_virtually(const Case& given, const CompiledCase& compiled, Memory& memory,
                                                std::uint64_t sample, bool checked) {
  const ptx::Module module = ptx::parse(compiled.ptx);
  AddressSpace space(module);
  std::map<std::string, std::uint64_t> addresses;
  for (const BufferSpec& buffer : given.buffers)
    addresses[buffer.name] = space.add(buffer.name, memory.at(buffer.name), buffer.writable);
  std::vector<vgpu::Kernel> kernels;
  for (const LaunchSpec& launch : given.launches)
    kernels.push_back(
        vgpu::decode(module, *module.find(compiled.symbols.at(launch.kernel)), space.variable_addresses()));
  std::vector<vgpu::KernelCounters> counters;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    counters.push_back(run_launch(given.launches[i], kernels[i],
                                  parameters_of(given.launches[i], kernels[i], addresses), space.memory(), sample,
                                  checked));
  return counters;
}

vgpu::KernelShape shape_of(const Case& given, const CompiledCase& compiled, const LaunchSpec& launch) {
  const ptx::Module module = ptx::parse(compiled.ptx);
  const AddressSpace space(module);
  const ptx::Function& entry = *module.find(compiled.symbols.at(launch.kernel));
  const vgpu::Kernel kernel = vgpu::decode(module, entry, space.variable_addresses());
  vgpu::KernelShape shape;
  shape.grid = launch.grid;
  shape.block = launch.block;
  shape.shared_bytes = kernel.static_shared_bytes + launch.shared_bytes;
  shape.traits = vgpu::traits_of(entry);
  for (const BufferSpec& buffer : given.buffers) shape.buffer_bytes += buffer.bytes();
  return shape;
}

}  // namespace cudal1::conformance
