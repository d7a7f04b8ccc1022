#include "judge/degenerate.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <limits>

namespace cudal1 {
namespace {

constexpr int degeneracy_draws = 3;

//! Integers count as such.
bool has_normal_numbers(const at::Tensor& tensor) {
  constexpr double smallest = std::numeric_limits<float>::min();
  return !tensor.is_floating_point() || tensor.abs().ge(smallest).any().item<bool>();
}

}  // namespace

InputDependence input_dependence(const MatchRule& rule, const Task& task, const TensorTable& constants,
                                 at::Device device, Random& random) {
  const auto draw = [&] {
    TensorTable leaves = constants;
    draw_inputs(task, Distribution::native, random.next(), device, leaves);
    return rule.oracle(leaves);
  };
  const std::vector<at::Tensor> first = draw();
  InputDependence found;
  found.variation.resize(first.size());
  for (int other = 1; other < degeneracy_draws && found.degenerate; ++other) {
    const std::vector<at::Tensor> result = draw();
    for (std::size_t i = 0; i < result.size(); ++i)
      found.variation[i] = larger_of(found.variation[i], variation_between(first[i], result[i]));
    for (std::size_t output = 0; output < task.graph.outputs.size(); ++output)
      if (!result[output].equal(first[output]) && has_normal_numbers(result[output])) found.degenerate = false;
  }
  return found;
}

}  // namespace cudal1
