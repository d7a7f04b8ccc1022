// What the match rule wants to know of two tensors, in one walk over their elements: on the CPU, or on a GPU for which
// there is a walk_device.hpp. Written out in tensor operators it is a dozen walks, and the judge's time goes there.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cudal1 {

//! Over the elements that count.
struct ErrorSums {
  double largest = 0.0;
  double squares = 0.0;
  std::int64_t counted = 0;
  std::int64_t mismatches = 0;  //!< elements that are finite, or not, where they must not be

  double root_mean_square() const;
  ErrorSums& operator+=(const ErrorSums& others);
  bool operator==(const ErrorSums&) const = default;
};

//! |result - exact| where the result is finite, and the fp64 `exact` is so in the output's own dtype.
ErrorSums errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type);

//! |exact| where it is finite in the output's own dtype.
ErrorSums sizes_of(const at::Tensor& exact, at::ScalarType type);

//! errors_of the candidate, and its mismatches: where `exact` is finite in the reference's dtype the candidate must be
//! finite too, unless the reference is not either; elsewhere it must be the same special value, or what the reference
//! has there: differences of infinities are NaN in the output's dtype where fp64 has numbers.
ErrorSums compare_with(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate);

//! The largest of these errors, and of these sizes, for each index along a dimension: fp64, 0 where nothing counts.
//! The tensors have elements.
at::Tensor largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                std::int64_t dimension);
at::Tensor largest_sizes_along(const at::Tensor& exact, at::ScalarType type, std::int64_t dimension);

//! The root mean square of these errors, likewise, and any numbers' mean; in operators only, since few ask.
at::Tensor rms_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                            std::int64_t dimension);
at::Tensor mean_along(const at::Tensor& values, std::int64_t dimension);

//! Is every element within the budget of the other, or equal to it, or are both no numbers?
bool all_within(const at::Tensor& a, const at::Tensor& b, double budget);

//! The same in tensor operators, for tensors of any device.
namespace by_operators {
ErrorSums errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type);
ErrorSums sizes_of(const at::Tensor& exact, at::ScalarType type);
at::Tensor largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                std::int64_t dimension);
at::Tensor largest_sizes_along(const at::Tensor& exact, at::ScalarType type, std::int64_t dimension);
ErrorSums compare_with(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate);
bool all_within(const at::Tensor& a, const at::Tensor& b, double budget);
}  // namespace by_operators

}  // namespace cudal1
