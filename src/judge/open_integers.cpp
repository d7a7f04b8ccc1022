#include "judge/open_integers.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace cudal1 {
namespace {

// Numbers that were seen to differ by more than this are sums or large products, of which a few draws do not show the
// whole range; others fall on one side of a step or on the other.
constexpr std::int64_t few = 3;

at::Tensor wide(const at::Tensor& tensor, at::Device device) { return tensor.to(device, at::kLong); }

}  // namespace

OpenIntegers open_integers(const at::Tensor& exact, const SeenResults& seen, const ValueFacts& facts) {
  const at::Tensor right = wide(exact, exact.device());
  OpenIntegers open{right, right, {}};
  std::vector<at::Tensor> values{right};
  for (const auto* list : {&seen.moved, &seen.references})
    for (const at::Tensor& result : *list) values.push_back(wide(result, exact.device()));
  for (const at::Tensor& value : values) {
    open.low = at::minimum(open.low, value);
    open.high = at::maximum(open.high, value);
  }
  if (facts.places > 0) {
    // Any place may be named where all elements are equal, and nobody sees all places in a few draws.
    if (seen.equal_inputs) return {at::zeros_like(right), at::full_like(right, facts.places - 1), {}};
    open.seen = std::move(values);
    return open;
  }
  const at::Tensor range = open.high - open.low;
  const at::Tensor more = at::where(range.gt(few), range, at::zeros_like(range));
  open.low = open.low - more;
  open.high = open.high + more;
  return open;
}

std::int64_t count_mismatches(const OpenIntegers& open, const at::Tensor& candidate) {
  // A bool that holds 255 is not true; compare the bytes.
  const at::Tensor bytes = candidate.scalar_type() == at::kBool ? candidate.view(at::kByte) : candidate;
  const at::Tensor value = wide(bytes, open.low.device());
  at::Tensor right = value.ge(open.low).logical_and(value.le(open.high));
  if (!open.seen.empty()) {
    at::Tensor known = at::zeros_like(right);
    for (const at::Tensor& one : open.seen) known.logical_or_(value.eq(one));
    right = right.logical_and(known);
  }
  return right.logical_not().sum().item<std::int64_t>();
}

}  // namespace cudal1
