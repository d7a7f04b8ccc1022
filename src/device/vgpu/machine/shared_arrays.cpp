#include "device/vgpu/machine/shared_arrays.hpp"

#include <fmt/format.h>

#include "base/readable_name.hpp"

namespace cudal1::vgpu {

std::string name_of_variable(const std::string& symbol) {
  const std::string whole = readable_name(symbol);
  const std::size_t scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

void SharedArrays::add(const std::string& symbol, std::uint64_t begin, std::uint64_t bytes) {
  sized_.push_back({fmt::format("'{}'", name_of_variable(symbol)), begin, bytes});
}

void SharedArrays::add_dynamic(const std::string& symbol, std::uint64_t begin) {
  dynamic_.names += fmt::format("{}'{}'", dynamic_.names.empty() ? "" : " or ", name_of_variable(symbol));
  dynamic_.begin = begin;
}

std::vector<SharedArrays::Array> SharedArrays::in_a_block_with(std::uint64_t shared_bytes) const {
  std::vector<Array> all = sized_;
  if (!dynamic_.names.empty())
    all.push_back({dynamic_.names, dynamic_.begin, shared_bytes > dynamic_.begin ? shared_bytes - dynamic_.begin : 0});
  return all;
}

std::string SharedArrays::remark_on(std::uint64_t address, std::uint64_t shared_bytes) const {
  const std::vector<Array> arrays = in_a_block_with(shared_bytes);
  if (arrays.empty()) return {};
  if (static_cast<std::int64_t>(address) < 0)
    return fmt::format(" ({} bytes before the beginning of {})", arrays.front().begin - address, arrays.front().names);
  const Array* before = &arrays.front();
  for (const Array& array : arrays)
    if (array.begin <= address) before = &array;
  const std::uint64_t offset = address - before->begin;
  if (offset < before->bytes) return fmt::format(" (byte {} of {}, {} bytes)", offset, before->names, before->bytes);
  return fmt::format(" ({} bytes after the end of {}, {} bytes)", offset - before->bytes, before->names, before->bytes);
}

std::string SharedArrays::remark_on(std::uint64_t address, std::uint64_t shared_bytes, std::size_t array) const {
  if (array == 0) return remark_on(address, shared_bytes);
  const Array meant = in_a_block_with(shared_bytes).at(array - 1);
  const std::string size = fmt::format("{}, {} bytes", meant.names, meant.bytes);
  const std::uint64_t offset = address - meant.begin;
  if (offset < meant.bytes) return fmt::format(" (byte {} of {})", offset, size);
  return static_cast<std::int64_t>(offset) < 0
             ? fmt::format(" ({} bytes before the beginning of {})", meant.begin - address, size)
             : fmt::format(" ({} bytes after the end of {})", offset - meant.bytes, size);
}

std::vector<SharedArrays::Bounds> SharedArrays::bounds(std::uint64_t shared_bytes) const {
  std::vector<Bounds> all{{0, shared_bytes}};
  for (const Array& array : in_a_block_with(shared_bytes)) all.push_back({array.begin, array.bytes});
  return all;
}

std::string SharedArrays::describe(std::uint64_t address, std::uint64_t shared_bytes) const {
  return fmt::format("byte {} of shared memory{}", address, remark_on(address, shared_bytes));
}

}  // namespace cudal1::vgpu
