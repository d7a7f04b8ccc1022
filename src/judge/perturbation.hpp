// The oracle with everything moved by what an honest program may be off: how far its results move is D of the match
// rule (docs/evaluator.md).
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "graph/executor.hpp"
#include "graph/inputs.hpp"
#include "judge/ulp_moves.hpp"
#include "judge/value_facts.hpp"
#include "judge/written_variance.hpp"

namespace cudal1 {

//! g: how many ulps of its largest value a sum of so many terms may be off. Rounding errors of many different terms
//! cancel like a random walk; those of equal terms all point one way, up to half an ulp for a term's product and for
//! its addition.
double growth_of(std::int64_t terms, Distribution distribution);

//! Inputs near zero or equal to each other make the terms of sums equal, or as good as equal: f(x) is about f(0).
bool makes_equal_terms(Distribution distribution);

// The budget of a random walk stops growing here: sqrt(2^16) 2^-23 = 2^-15 is a sixteenth of TF32's ulp, and longer
// walks would come to hide operands that were rounded to it.
inline constexpr double longest_walk = 0x1.0p16;

class Perturbation {
 public:
  //! Both must outlive this object.
  Perturbation(const Task& task, const std::vector<ValueFacts>& facts);

  //! One draw: the outputs, then the states.
  std::vector<at::Tensor> run(const Executor& oracle, const TensorTable& leaves, Distribution distribution,
                              Random& random) const;
  //! Two draws, in the second of which everything moves the other way: an element near a step is seen on its other
  //! side by one of them, since nothing stays where it is.
  std::array<std::vector<at::Tensor>, 2> run_both_ways(const Executor& oracle, const TensorTable& leaves,
                                                       Distribution distribution, Directions directions,
                                                       Random& random) const;

 private:
  struct Draw;
  std::vector<at::Tensor> run(const Executor& oracle, const TensorTable& leaves, Draw& draw) const;
  double ulps_of(ValueId id, const Draw& draw) const;
  double ulp_of_value(ValueId id) const;
  bool is_exact(const Node& node, ValueId id, const TensorTable& values, const at::Tensor& result) const;
  void move_by_unit(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results, Draw& draw) const;
  void move_norm(const Node& node, const TensorTable& values, const at::Tensor& argument, at::Tensor& result,
                 double ulps, Draw& draw) const;
  void move_product(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results, Draw& draw) const;
  void move_convolution(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                        Draw& draw) const;
  void move_written_variance(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                             Draw& draw) const;
  void move_intermediates(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                          Draw& draw) const;

  const Task& task_;
  const std::vector<ValueFacts>& facts_;
  std::set<ValueId> read_by_nodes_;
  std::map<ValueId, WrittenVariance> variances_;  //!< by the value that is one
  std::set<ValueId> arguments_of_variances_;
};

//! The outputs, then the states.
std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves, const ResultHook& hook = {});

}  // namespace cudal1
