// The oracle with everything moved by what an honest program may be off: how far its results move is D of the match
// rule (docs/evaluator.md).
#pragma once

#include <set>
#include <vector>

#include "base/random.hpp"
#include "graph/executor.hpp"
#include "graph/inputs.hpp"
#include "judge/value_facts.hpp"

namespace cudal1 {

//! g: how many ulps of its largest value a sum of so many terms may be off. Rounding errors of many different terms
//! cancel like a random walk; those of equal terms all point one way, up to half an ulp for a term's product and for
//! its addition.
double growth_of(std::int64_t terms, Distribution distribution);

class Perturbation {
 public:
  //! Both must outlive this object.
  Perturbation(const Task& task, const std::vector<ValueFacts>& facts);

  //! One draw: the outputs, then the states.
  std::vector<at::Tensor> run(const Executor& oracle, const TensorTable& leaves, Distribution distribution,
                              Random& random) const;

 private:
  double ulps_of(ValueId id, Distribution distribution) const;
  void move_by_unit(const Node& node, const TensorTable& values, std::vector<at::Tensor>& results,
                    Distribution distribution, Random& random) const;
  void move_intermediates(const Node& node, std::vector<at::Tensor>& results, Distribution distribution,
                          Random& random) const;

  const Task& task_;
  const std::vector<ValueFacts>& facts_;
  std::set<ValueId> read_by_nodes_;
};

//! The outputs, then the states.
std::vector<at::Tensor> results_of(const Executor& executor, const TensorTable& leaves, const ResultHook& hook = {});

}  // namespace cudal1
