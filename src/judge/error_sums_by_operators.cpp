#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <vector>

#include "judge/dimensions.hpp"
#include "judge/error_sums.hpp"
#include "judge/same_numbers.hpp"

namespace cudal1 {
namespace {

at::Tensor where_counted(const at::Tensor& counted, const at::Tensor& values) {
  return at::where(counted, values, at::zeros({}, values.options()));
}

at::Tensor counted_in(const at::Tensor& value, const at::Tensor& exact, at::ScalarType type) {
  return exact.to(type).isfinite().logical_and(value.isfinite());
}

//! Brought to the host in one go: each copy waits for the device.
ErrorSums sums_of(const at::Tensor& errors, const at::Tensor& counted) {
  if (errors.numel() == 0) return {};
  const at::Tensor sums =
      at::stack({errors.max(), errors.square().sum(), counted.sum().to(at::kDouble)}).to(at::kCPU, at::kDouble);
  const auto* values = sums.const_data_ptr<double>();
  return {values[0], values[1], static_cast<std::int64_t>(values[2])};
}

//! The largest of all values that share an index.
at::Tensor largest_along(const at::Tensor& values, std::int64_t dimension) {
  const std::vector<std::int64_t> others = all_but(dimension, values.dim());
  return others.empty() ? values : values.amax(others);
}

}  // namespace

at::Tensor mean_along(const at::Tensor& values, std::int64_t dimension) {
  const std::vector<std::int64_t> others = all_but(dimension, values.dim());
  return others.empty() ? values : values.mean(others);
}

at::Tensor rms_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                            std::int64_t dimension) {
  const at::Tensor counted = counted_in(result, exact, type);
  const at::Tensor share = mean_along(counted.to(at::kDouble), dimension);
  // In place, since results may fill half a device.
  const at::Tensor squares = (result - exact).square_().masked_fill_(counted.logical_not(), 0.0);
  return (mean_along(squares, dimension) / share).nan_to_num(0.0).sqrt();
}

namespace by_operators {

ErrorSums errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type) {
  const at::Tensor value = result.to(at::kDouble);
  const at::Tensor counted = counted_in(value, exact, type);
  return sums_of(where_counted(counted, (value - exact).abs()), counted);
}

ErrorSums sizes_of(const at::Tensor& exact, at::ScalarType type) {
  const at::Tensor counted = exact.to(type).isfinite();
  return sums_of(where_counted(counted, exact.abs()), counted);
}

at::Tensor largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                std::int64_t dimension) {
  const at::Tensor value = result.to(at::kDouble);
  return largest_along(where_counted(counted_in(value, exact, type), (value - exact).abs()), dimension);
}

at::Tensor largest_sizes_along(const at::Tensor& exact, at::ScalarType type, std::int64_t dimension) {
  return largest_along(where_counted(exact.to(type).isfinite(), exact.abs()), dimension);
}

ErrorSums compare_with(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate) {
  const at::Tensor cast = exact.to(reference.scalar_type());
  const at::Tensor finite = cast.isfinite();
  const at::Tensor missing = candidate.isfinite().logical_not().logical_and(reference.isfinite());
  const at::Tensor special = same_numbers(cast, candidate).logical_or(same_numbers(reference, candidate));
  ErrorSums sums = errors_of(candidate, exact, reference.scalar_type());
  sums.mismatches = at::where(finite, missing, special.logical_not()).sum().item<std::int64_t>();
  return sums;
}

bool all_within(const at::Tensor& a, const at::Tensor& b, double budget) {
  const at::Tensor wide_a = a.to(at::kDouble), wide_b = b.to(at::kDouble);
  return (wide_a - wide_b).abs().le(budget).logical_or(same_numbers(wide_a, wide_b)).all().item<bool>();
}

}  // namespace by_operators
}  // namespace cudal1
