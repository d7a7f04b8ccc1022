#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

enum class DType { f32, f64, f16, bf16, i8, i16, i32, i64, u8, boolean };

std::string_view to_string(DType dtype);  //!< "f32", …, "bool"
std::optional<DType> dtype_from_string(std::string_view name);
std::int64_t size_in_bytes(DType dtype);
bool is_floating(DType dtype);

//! Everything about a tensor but its values.
struct TensorMeta {
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  //!< in elements

  std::int64_t numel() const;
  //! Bytes from the first element to the end of the last one: what a buffer for it must hold.
  std::int64_t span_bytes() const;
  bool is_contiguous() const;
  bool operator==(const TensorMeta&) const = default;
};

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);
std::string to_string(const TensorMeta& meta);  //!< "f32[4096, 1024]"

}  // namespace cudal1
