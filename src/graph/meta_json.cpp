#include "graph/meta_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cudal1 {
namespace {

constexpr std::size_t max_dimensions = 16;  // below ATen's own limit, far above any module

std::vector<std::int64_t> read_sizes(const JsonPlace& place) {
  place.expect_array();
  if (place.size() > max_dimensions) place.fail(fmt::format("more than {} dimensions", max_dimensions));
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < place.size(); ++d) {
    sizes.push_back(place.at(d).integer());
    if (sizes.back() < 0) place.at(d).fail(fmt::format("{} is negative", sizes.back()));
  }
  return sizes;
}

[[noreturn]] void fail_too_large(const JsonPlace& place) { place.fail("the tensor would be larger than 2^40 bytes"); }

//! Empty dimensions do not excuse the others: strides multiply them all.
void refuse_too_large(const TensorMeta& meta, const JsonPlace& place) {
  std::int64_t bytes = size_in_bytes(meta.dtype);
  for (std::int64_t size : meta.sizes)
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes) || bytes > max_tensor_bytes)
      fail_too_large(place);
}

void refuse_too_far(const TensorMeta& meta, const JsonPlace& place) {
  std::int64_t last_element = 0;
  for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(meta.sizes[d] - 1, 0), meta.strides[d], &reach) ||
        __builtin_add_overflow(last_element, reach, &last_element) ||
        last_element >= max_tensor_bytes / size_in_bytes(meta.dtype))
      fail_too_large(place);
  }
}

//! Sorted by stride, each dimension must step over everything the smaller ones reach.
bool elements_overlap(const TensorMeta& meta) {
  std::vector<std::size_t> order(meta.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t d) { return meta.strides[d]; });
  std::int64_t reached = 0;
  for (std::size_t d : order) {
    if (meta.sizes[d] <= 1) continue;
    if (meta.strides[d] <= reached) return true;
    reached += (meta.sizes[d] - 1) * meta.strides[d];
  }
  return false;
}

std::vector<std::int64_t> read_strides(const JsonPlace& place, std::size_t rank) {
  place.expect_array();
  if (place.size() != rank) place.fail(fmt::format("{} strides for {} dimensions", place.size(), rank));
  return read_sizes(place);
}

TensorMeta read_sized_meta(DType dtype, const JsonPlace& shape) {
  TensorMeta meta{dtype, read_sizes(shape), {}};
  refuse_too_large(meta, shape);
  return meta;
}

}  // namespace

DType read_dtype(const JsonPlace& place) {
  const std::string name = place.text();
  if (const std::optional<DType> dtype = dtype_from_string(name)) return *dtype;
  place.fail(fmt::format("unknown dtype \"{}\"; known are f32, f64, f16, bf16, i8, i16, i32, i64, u8, bool", name));
}

TensorMeta read_contiguous_meta(DType dtype, const JsonPlace& shape) {
  TensorMeta meta = read_sized_meta(dtype, shape);
  meta.strides = contiguous_strides(meta.sizes);
  return meta;
}

TensorMeta read_output_meta(const JsonPlace& place) {
  TensorMeta meta = read_sized_meta(read_dtype(place.at("dtype")), place.at("shape"));
  if (const auto strides = place.find("strides")) {
    meta.strides = read_strides(*strides, meta.sizes.size());
    refuse_too_far(meta, *strides);
  }
  return meta;
}

TensorMeta read_leaf_meta(const JsonPlace& place) {
  TensorMeta meta = read_output_meta(place);
  if (!place.find("strides")) meta.strides = contiguous_strides(meta.sizes);
  if (meta.numel() > 0 && elements_overlap(meta)) place.at("strides").fail("elements overlap in memory");
  return meta;
}

}  // namespace cudal1
