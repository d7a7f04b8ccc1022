#include "graph/tensor_meta.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace cudal1 {
namespace {

struct DTypeEntry {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
  bool floating;
};

// In the order of the enum, so that a DType is its own index.
constexpr std::array<DTypeEntry, 10> dtype_table{{
    {DType::f32, "f32", 4, true},
    {DType::f64, "f64", 8, true},
    {DType::f16, "f16", 2, true},
    {DType::bf16, "bf16", 2, true},
    {DType::i8, "i8", 1, false},
    {DType::i16, "i16", 2, false},
    {DType::i32, "i32", 4, false},
    {DType::i64, "i64", 8, false},
    {DType::u8, "u8", 1, false},
    {DType::boolean, "bool", 1, false},
}};

const DTypeEntry& entry(DType dtype) { return dtype_table.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::string_view to_string(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_string(std::string_view name) {
  for (const DTypeEntry& candidate : dtype_table)
    if (candidate.name == name) return candidate.dtype;
  return std::nullopt;
}

std::int64_t size_in_bytes(DType dtype) { return entry(dtype).bytes; }

bool is_floating(DType dtype) { return entry(dtype).floating; }

std::int64_t TensorMeta::numel() const {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  return count;
}

std::int64_t TensorMeta::span_bytes() const {
  if (numel() == 0) return 0;
  std::int64_t last_element = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) last_element += (sizes[d] - 1) * strides[d];
  return (last_element + 1) * size_in_bytes(dtype);
}

bool TensorMeta::is_contiguous() const {
  if (numel() == 0) return true;
  const std::vector<std::int64_t> expected = contiguous_strides(sizes);
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && strides[d] != expected[d]) return false;
  return true;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);  // as ATen does for empty tensors
  }
  return strides;
}

std::string to_string(const TensorMeta& meta) {
  const std::string shape = fmt::format("{}[{}]", to_string(meta.dtype), fmt::join(meta.sizes, ", "));
  if (meta.strides.size() != meta.sizes.size() || meta.is_contiguous()) return shape;
  return fmt::format("{} with strides [{}]", shape, fmt::join(meta.strides, ", "));
}

}  // namespace cudal1
