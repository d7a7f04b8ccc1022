// The op steps of a plan: resolved once against ATen, run on the values of one call after the other.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "graph/aten_call.hpp"
#include "program/plan.hpp"
#include "program/step_branches.hpp"

namespace cudal1 {

//! The tensors of a call under way.
struct OpValues {
  std::vector<at::Tensor> tensors;  //!< by value
  std::vector<at::Tensor> made;     //!< by buffer: what op steps returned
};

class OpSteps {
 public:
  //! Throws Error naming the node that ATen does not know.
  OpSteps(const Plan& plan, at::Device device, RandomNumbers random_numbers);
  OpValues no_values() const;
  //! Values that op steps do not make: to be set before a call.
  const std::vector<std::size_t>& values_from_outside() const { return from_outside_; }
  //! Throws Error or c10::Error.
  void run(std::size_t step_index, OpValues& values) const;
  //! A step of preparing: its results go where the plan has a place for them.
  void prepare(std::size_t step_index, OpValues& values) const;

 private:
  struct Drops {
    std::vector<std::size_t> values, buffers;
  };
  const Buffer& buffer_of(const TensorRef& ref) const { return plan_.buffers[static_cast<std::size_t>(ref.buffer)]; }
  const at::Tensor& tensor_of(ValueId id, OpValues& values) const;
  void keep(ValueId id, at::Tensor result, OpValues& values) const;
  void find_values_from_outside();
  void find_users();
  bool is_over(std::size_t buffer, std::size_t step) const;
  void plan_drops(const std::vector<std::size_t>& last);
  void find_steps_in_place(const std::vector<std::size_t>& last, at::Device device);
  bool may_overwrite(const OpStep& step, const std::function<bool(int buffer)>& is_last_use) const;
  std::vector<at::Tensor> call(std::size_t step_index, OpValues& values) const;

  Plan plan_;
  StepOrder order_;
  std::vector<std::vector<std::size_t>> users_;     // by buffer: steps, ascending
  std::vector<std::optional<AtenCall>> calls_;      // by step index
  std::vector<std::optional<AtenCall>> preparing_;  // the same for the steps of preparing
  std::vector<std::optional<AtenCall>> in_place_;   // the same, with the result in the place of the first argument
  std::vector<Drops> drops_;                        // by step index
  std::vector<std::size_t> from_outside_;
};

}  // namespace cudal1
