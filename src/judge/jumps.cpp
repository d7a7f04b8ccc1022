#include "judge/jumps.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <limits>

#include "judge/same_numbers.hpp"
#include "judge/tensor_sample.hpp"

namespace cudal1 {
namespace {

// A quarter of normal numbers lies within a third of their deviation: ten deviations.
constexpr double out_of_proportion = 32.0;
constexpr double ordinary_share = 0.75;

//! How far each element moves; infinity where it becomes finite or ceases to be.
at::Tensor movement_of(const at::Tensor& exact, const at::Tensor& result) {
  const at::Tensor unbounded = at::full({}, std::numeric_limits<double>::infinity(), exact.options());
  const at::Tensor both = exact.isfinite().logical_and(result.isfinite());
  const at::Tensor same = same_numbers(exact, result);
  return at::where(both, (result - exact).abs(), at::where(same, at::zeros_like(exact), unbounded));
}

//! What three in four elements of a sample do not exceed in the calmest quarter of the draws. Not in all: of many
//! elements each jumps now and then, and one draw after another would have every element among those that do.
double usual_movement(const at::Tensor& exact, const std::vector<at::Tensor>& draws) {
  if (draws.empty()) return 0.0;
  std::vector<at::Tensor> movements;
  for (const at::Tensor& draw : draws) movements.push_back(movement_of(sample_of(exact), sample_of(draw)));
  const auto quarter = static_cast<std::int64_t>(draws.size() + 3) / 4;
  const at::Tensor calmest = std::get<0>(at::stack(movements).kthvalue(quarter, 0));
  const auto rank = static_cast<std::int64_t>(ordinary_share * static_cast<double>(calmest.numel()));
  return std::get<0>(calmest.sort())[std::min(rank, calmest.numel() - 1)].item<double>();
}

std::vector<at::Tensor> all_in_fp64(const SeenResults& seen, const at::Tensor& exact) {
  std::vector<at::Tensor> results;
  for (const auto* list : {&seen.moved, &seen.references})
    for (const at::Tensor& result : *list) results.push_back(result.to(exact.device(), at::kDouble));
  return results;
}

//! The widest that any element was seen to move, for all of them.
void widen_to_farthest(Jumps& jumps, const at::Tensor& exact, const at::Tensor& movement) {
  const at::Tensor moves = movement.masked_select(jumps.elements.logical_and(movement.isfinite()));
  if (moves.numel() == 0) return;
  const at::Tensor farthest = moves.max();
  jumps.low = at::minimum(jumps.low, exact - farthest);
  jumps.high = at::maximum(jumps.high, exact + farthest);
}

}  // namespace

Jumps find_jumps(const at::Tensor& exact, const SeenResults& seen, double usual) {
  if (exact.numel() == 0) return {};
  Jumps jumps{{}, exact, exact, exact.isnan()};
  at::Tensor movement = at::zeros_like(exact);
  for (const at::Tensor& result : all_in_fp64(seen, exact)) {
    movement = at::maximum(movement, movement_of(exact, result));
    jumps.low = at::fmin(jumps.low, result);
    jumps.high = at::fmax(jumps.high, result);
    jumps.may_be_nan = jumps.may_be_nan.logical_or(result.isnan());
  }
  jumps.elements = movement.gt(std::max(usual, out_of_proportion * usual_movement(exact, seen.moved)));
  if (seen.equal_inputs) widen_to_farthest(jumps, exact, movement);
  return jumps;
}

at::Tensor without_jumps(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps) {
  if (!jumps.elements.defined()) return result;
  const at::Tensor elements = jumps.elements.to(result.device());
  return at::where(elements, exact.to(result.device(), result.scalar_type()), result);
}

at::Tensor beyond_what_was_seen(const at::Tensor& result, const at::Tensor& exact, const Jumps& jumps) {
  if (!jumps.elements.defined()) return result;
  const at::Tensor wide = result.to(at::kDouble);
  const at::Tensor was_seen =
      wide.ge(jumps.low).logical_and(wide.le(jumps.high)).logical_or(wide.isnan().logical_and(jumps.may_be_nan));
  const at::Tensor nearest = at::where(wide.lt(jumps.low), jumps.low, jumps.high);
  const at::Tensor outside = at::where(exact.isfinite(), exact + (wide - nearest), wide);
  return at::where(was_seen, exact, outside).to(result.scalar_type());
}

}  // namespace cudal1
