// The match rule: how far from the fp64 oracle an output may be. docs/evaluator.md explains it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "graph/executor.hpp"
#include "graph/inputs.hpp"
#include "judge/budget_formula.hpp"
#include "judge/evaluation.hpp"
#include "judge/hidden_part.hpp"
#include "judge/jumps.hpp"
#include "judge/open_integers.hpp"
#include "judge/slice_budget.hpp"
#include "judge/slice_variation.hpp"

namespace cudal1 {

//! The budget of one output on one input set.
struct OutputBudget : Budget {
  double relative = 0.0;               //!< of a part's largest number: what its budget is at least
  std::vector<SliceBudget> slices;     //!< of parts that are small beside the whole
  std::vector<HiddenPart> parts;       //!< native inputs: of numbers that the budget of the whole hides
  std::vector<VariationLimit> limits;  //!< native inputs: of parts whose variation it hides
  Jumps jumps;                         //!< elements that it is not for
  bool varies = false;                 //!< native inputs: elements differ by far more than PyTorch is off
  bool is_open = false;                //!< equal inputs: finite in one honest way and not in another
};

//! What the task's outputs (then its states) must be on one input set.
struct Expected {
  std::vector<at::Tensor> oracle;      //!< fp64, or the integer type
  std::vector<at::Tensor> reference;   //!< PyTorch's standard result
  std::vector<OutputBudget> budgets;   //!< of real ones
  std::vector<OpenIntegers> integers;  //!< of others
};

//! Runs a task in all the ways the budget needs. Holds resolved operators; make one a task.
class MatchRule {
 public:
  MatchRule(const Task& task, at::Device device, PrecisionPolicy precision);
  ~MatchRule();

  //! Called between runs of the graph, of which one may take seconds.
  void between_runs(std::function<void()> call);

  //! How much each result differs between native input sets: what does not follow the inputs is off by that much, even
  //! where it is less than rounding may cost.
  void know_variation(std::vector<Variation> variation);

  //! `leaves`: inputs, weights and states on any device; `distribution`: how the inputs were drawn.
  Expected expect(const TensorTable& leaves, Distribution distribution, std::uint64_t seed) const;

  //! One entry per output and state, in order.
  std::vector<OutputError> compare(const Expected& expected, const std::vector<at::Tensor>& given,
                                   Distribution distribution) const;

  //! Just the standard reference, e.g. for testing whether outputs depend on inputs.
  std::vector<at::Tensor> reference(const TensorTable& leaves) const;
  std::vector<at::Tensor> oracle(const TensorTable& leaves) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

//! What a cheap test tells of two outputs for the same inputs. `surely`: they lie within the budget of each other,
//! whichever part of it one looks at. `on_the_whole`: no element is off by more than the largest may be, but parts may
//! have smaller budgets that only the oracle knows; TF32 leads there. `no`: look closer, which is not "wrong" yet.
enum class Closeness { surely, on_the_whole, no };
Closeness closeness(const at::Tensor& given, const at::Tensor& usual, const OutputBudget& budget);
inline bool surely_close(const at::Tensor& given, const at::Tensor& usual, const OutputBudget& budget) {
  return closeness(given, usual, budget) == Closeness::surely;
}

//! Do two results that match differ by no more than the budget? Integers that match may differ where they are open.
bool agree(const at::Tensor& one, const at::Tensor& other, const OutputBudget& budget);

}  // namespace cudal1
