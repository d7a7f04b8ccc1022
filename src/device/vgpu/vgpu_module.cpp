#include "device/vgpu/vgpu_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compile/ptx_lines.hpp"
#include "device/device.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

//! Far from buffers and from the windows of other memories.
constexpr std::uint64_t first_table_address = std::uint64_t{1} << 44;
constexpr std::uint64_t gap_between_tables = 4096;

std::uint32_t most_threads_of(const ptx::Function& function) {
  const auto limit = function.limits.find("maxntid");
  if (limit == function.limits.end()) return 1024;
  std::uint32_t threads = 1;
  for (const std::uint32_t size : limit->second) threads *= size;
  return threads;
}

//! With the line of the program; that of the PTX is only of use where there is none.
DeviceError refusal_of(const ptx::PtxError& error, std::string_view ptx) {
  const int line = source_line_of(ptx, error.line);
  return DeviceError(Status::unsupported, line > 0 ? error.reason : error.what(), false, SourcePosition{line, 0});
}

}  // namespace

VgpuModule::VgpuModule(const CompiledModule& compiled) try : ptx_(ptx::parse(compiled.binary)) {
  place_tables();
  for (const auto& [name, symbol] : compiled.symbols) {
    const ptx::Function* function = ptx_.find(symbol);
    if (!function) throw DeviceError(Status::judge_error, fmt::format("no kernel {} in the PTX", symbol), false);
    kernels_.emplace(
        name, LoadedKernel{decode(ptx_, *function, addresses_), traits_of(*function), most_threads_of(*function)});
  }
} catch (const ptx::PtxError& error) {
  throw refusal_of(error, compiled.binary);
}

void VgpuModule::place_tables() {
  std::uint64_t next = first_table_address;
  for (const ptx::Variable& variable : ptx_.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    const std::uint64_t alignment = std::max<std::uint64_t>(variable.alignment, 16);
    next = (next + alignment - 1) / alignment * alignment;
    Table& table = tables_.emplace_back(Table{variable.name, next, std::vector<std::byte>(variable.bytes())});
    if (!variable.initial.empty())
      std::memcpy(table.bytes.data(), variable.initial.data(), std::min(variable.initial.size(), table.bytes.size()));
    addresses_[variable.name] = next;
    next += variable.bytes() + gap_between_tables;
  }
}

const LoadedKernel* VgpuModule::find(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

void VgpuModule::add_tables(GlobalMemory& memory) const {
  for (const Table& table : tables_) {
    auto* bytes = const_cast<std::byte*>(table.bytes.data());  // only read: see `writable`
    memory.add({table.address, table.bytes.size(), bytes, table.name, false});
  }
}

}  // namespace cudal1::vgpu
