#include "judge/error_sums.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "judge/device_walks.hpp"
#include "judge/dimensions.hpp"
#include "judge/side_by_side.hpp"

namespace cudal1 {
namespace {

// Sums are made chunk by chunk and added in order, so that they do not depend on the number of threads.
constexpr std::int64_t chunk_elements = 32768;
constexpr std::int64_t lanes = 4;  // independent sums, so that one addition need not wait for the other

bool is_known(at::ScalarType type) {
  return type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
}

//! On the CPU, of one shape, in types that the walk knows.
bool can_walk(const at::Tensor& exact, std::initializer_list<at::Tensor> others) {
  return exact.is_cpu() && is_known(exact.scalar_type()) &&
         std::all_of(others.begin(), others.end(), [&](const at::Tensor& tensor) {
           return tensor.is_cpu() && is_known(tensor.scalar_type()) && tensor.sizes() == exact.sizes();
         });
}

void add(ErrorSums& sums, bool counts, double error) {
  const double counted = counts ? std::abs(error) : 0.0;
  sums.largest = std::max(sums.largest, counted);
  sums.squares += counted * counted;
  sums.counted += counts ? 1 : 0;
}

ErrorSums total_of(const ErrorSums* begin, const ErrorSums* end) {
  ErrorSums total;
  for (const ErrorSums* part = begin; part != end; ++part) total += *part;
  return total;
}

template <class AddElement>
ErrorSums walk_chunk(std::int64_t begin, std::int64_t end, const AddElement& add_element) {
  std::array<ErrorSums, lanes> sums{};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) add_element(sums[static_cast<std::size_t>(lane)], i + lane);
  for (; i < end; ++i) add_element(sums[0], i);
  return total_of(sums.data(), sums.data() + sums.size());
}

//! `add_element(sums, index)` for all of `count` elements, on all cores.
template <class AddElement>
ErrorSums walk(std::int64_t count, const AddElement& add_element) {
  const std::int64_t chunks = (count + chunk_elements - 1) / chunk_elements;
  std::vector<ErrorSums> parts(static_cast<std::size_t>(chunks));
  at::parallel_for(0, chunks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t chunk = first; chunk < last; ++chunk)
      parts[static_cast<std::size_t>(chunk)] =
          walk_chunk(chunk * chunk_elements, std::min(count, (chunk + 1) * chunk_elements), add_element);
  });
  return total_of(parts.data(), parts.data() + parts.size());
}

template <class Type>
bool is_finite(Type value) {
  if constexpr (std::is_floating_point_v<Type>) return std::isfinite(value);
  return std::isfinite(static_cast<float>(value));
}

//! Calls `function` with a value of the C++ type that the scalar type stands for.
template <class Function>
auto with_type(at::ScalarType type, const Function& function) {
  switch (type) {
    case at::kDouble:
      return function(double{});
    case at::kHalf:
      return function(at::Half{});
    case at::kBFloat16:
      return function(at::BFloat16{});
    default:
      return function(float{});
  }
}

template <class Result, class Output>
ErrorSums walk_errors(const at::Tensor& result, const at::Tensor& exact) {
  const auto* given = result.const_data_ptr<Result>();
  const auto* wanted = exact.const_data_ptr<double>();
  return walk(exact.numel(), [=](ErrorSums& sums, std::int64_t i) {
    add(sums, is_finite(static_cast<Output>(wanted[i])) && is_finite(given[i]),
        static_cast<double>(given[i]) - wanted[i]);
  });
}

template <class Value>
bool is_same(Value a, Value b) {
  return a == b || (a != a && b != b);
}

template <class Output>
ErrorSums walk_comparison(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate) {
  const auto* wanted = exact.const_data_ptr<double>();
  const auto* usual = reference.const_data_ptr<Output>();
  const auto* given = candidate.const_data_ptr<Output>();
  return walk(exact.numel(), [=](ErrorSums& sums, std::int64_t i) {
    const auto cast = static_cast<Output>(wanted[i]);
    const bool finite = is_finite(cast), given_finite = is_finite(given[i]);
    add(sums, finite && given_finite, static_cast<double>(given[i]) - wanted[i]);
    const bool mismatch =
        finite ? !given_finite && is_finite(usual[i]) : !is_same(cast, given[i]) && !is_same(usual[i], given[i]);
    sums.mismatches += mismatch ? 1 : 0;
  });
}

//! `error_at(element)`, the largest for each index along the dimension of a contiguous tensor of these sizes. Threads
//! share the indices, so that each element is looked at once and no results are to be put together.
template <class ErrorAt>
at::Tensor walk_along(at::IntArrayRef sizes, std::int64_t dimension, const ErrorAt& error_at) {
  const Extent extent(sizes, dimension);
  const std::int64_t outer = extent.outer, count = extent.count, inner = extent.inner;
  at::Tensor largest = at::zeros({count}, at::TensorOptions().dtype(at::kDouble));
  auto* found = largest.mutable_data_ptr<double>();
  const std::int64_t grain = std::max<std::int64_t>(1, chunk_elements / (outer * inner));
  at::parallel_for(0, count, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = 0; block < outer; ++block)
      for (std::int64_t index = first; index < last; ++index) {
        const std::int64_t begin = (block * count + index) * inner;
        double most = found[index];
        for (std::int64_t i = begin; i < begin + inner; ++i) most = std::max(most, error_at(i));
        found[index] = most;
      }
  });
  return largest;
}

}  // namespace

double ErrorSums::root_mean_square() const {
  return counted == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(counted));
}

ErrorSums& ErrorSums::operator+=(const ErrorSums& others) {
  largest = std::max(largest, others.largest);
  squares += others.squares;
  counted += others.counted;
  mismatches += others.mismatches;
  return *this;
}

ErrorSums errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type) {
  if (const auto walks = device_walks_over({result, exact})) return walks->errors_of(result, exact, type);
  if (!can_walk(exact, {result})) return by_operators::errors_of(result, exact, type);
  const auto tensors = side_by_side<2>({result, exact});
  return with_type(type, [&](auto output) {
    return with_type(result.scalar_type(), [&](auto value) {
      return walk_errors<decltype(value), decltype(output)>(tensors[0], tensors[1]);
    });
  });
}

ErrorSums sizes_of(const at::Tensor& exact, at::ScalarType type) {
  if (const auto walks = device_walks_over({exact})) return walks->sizes_of(exact, type);
  if (!can_walk(exact, {})) return by_operators::sizes_of(exact, type);
  const auto tensors = side_by_side<1>({exact});
  const auto* sizes = tensors[0].const_data_ptr<double>();
  return with_type(type, [&](auto output) {
    return walk(exact.numel(), [=](ErrorSums& sums, std::int64_t i) {
      add(sums, is_finite(static_cast<decltype(output)>(sizes[i])), sizes[i]);
    });
  });
}

at::Tensor largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                std::int64_t dimension) {
  if (const auto walks = device_walks_over({result, exact}))
    return walks->largest_errors_along(result, exact, type, dimension);
  if (!can_walk(exact, {result})) return by_operators::largest_errors_along(result, exact, type, dimension);
  const at::Tensor dense_result = result.contiguous(), dense_exact = exact.contiguous();
  const auto* wanted = dense_exact.const_data_ptr<double>();
  return with_type(type, [&](auto output) {
    return with_type(result.scalar_type(), [&](auto value) {
      const auto* given = dense_result.const_data_ptr<decltype(value)>();
      return walk_along(exact.sizes(), dimension, [=](std::int64_t i) {
        const bool counts = is_finite(static_cast<decltype(output)>(wanted[i])) && is_finite(given[i]);
        return counts ? std::abs(static_cast<double>(given[i]) - wanted[i]) : 0.0;
      });
    });
  });
}

at::Tensor largest_sizes_along(const at::Tensor& exact, at::ScalarType type, std::int64_t dimension) {
  if (const auto walks = device_walks_over({exact})) return walks->largest_sizes_along(exact, type, dimension);
  if (!can_walk(exact, {})) return by_operators::largest_sizes_along(exact, type, dimension);
  const at::Tensor dense = exact.contiguous();
  const auto* sizes = dense.const_data_ptr<double>();
  return with_type(type, [&](auto output) {
    return walk_along(exact.sizes(), dimension, [=](std::int64_t i) {
      return is_finite(static_cast<decltype(output)>(sizes[i])) ? std::abs(sizes[i]) : 0.0;
    });
  });
}

ErrorSums compare_with(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate) {
  if (reference.scalar_type() != candidate.scalar_type())
    return by_operators::compare_with(exact, reference, candidate);
  if (const auto walks = device_walks_over({exact, reference, candidate}))
    return walks->compare_with(exact, reference, candidate);
  if (!can_walk(exact, {reference, candidate})) return by_operators::compare_with(exact, reference, candidate);
  const auto tensors = side_by_side<3>({exact, reference, candidate});
  return with_type(reference.scalar_type(),
                   [&](auto output) { return walk_comparison<decltype(output)>(tensors[0], tensors[1], tensors[2]); });
}

bool all_within(const at::Tensor& a, const at::Tensor& b, double budget) {
  if (a.scalar_type() != b.scalar_type()) return by_operators::all_within(a, b, budget);
  if (const auto walks = device_walks_over({a, b})) return walks->all_within(a, b, budget);
  if (!can_walk(a, {b})) return by_operators::all_within(a, b, budget);
  const auto tensors = side_by_side<2>({a, b});
  const ErrorSums sums = with_type(a.scalar_type(), [&](auto value) {
    const auto* left = tensors[0].const_data_ptr<decltype(value)>();
    const auto* right = tensors[1].const_data_ptr<decltype(value)>();
    return walk(a.numel(), [=](ErrorSums& found, std::int64_t i) {
      const auto x = static_cast<double>(left[i]), y = static_cast<double>(right[i]);
      found.mismatches += std::abs(x - y) <= budget || is_same(x, y) ? 0 : 1;
    });
  });
  return sums.mismatches == 0;
}

}  // namespace cudal1
