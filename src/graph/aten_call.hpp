// One node, resolved against ATen's dispatcher. Shared by the executor and the `op` steps of a plan.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

at::ScalarType to_scalar_type(DType dtype);
DType from_scalar_type(at::ScalarType type);  //!< throws Error for types a task cannot have

//! Whose random numbers nodes draw.
enum class RandomNumbers {
  of_the_task,    //!< the same at every call, whoever runs the task (random_nodes.hpp)
  of_the_caller,  //!< from the device's generator as it stands
};

class AtenCall {
 public:
  //! `device` replaces device arguments and defaults; `widen` turns `compute` dtypes into fp64.
  //! Throws Error naming the node: unknown operator or argument, operators whose random numbers nobody can draw again,
  //! operators that write an argument which is not among the node's writes_state.
  AtenCall(const Node& node, at::Device device, bool widen, RandomNumbers random_numbers = RandomNumbers::of_the_task);
  ~AtenCall();
  AtenCall(AtenCall&&) noexcept;
  //! `lookup` gives the tensor of a value that the node reads. Runs without autograd. One tensor per output;
  //! lists are flattened. Throws Error (OutOfMemoryError of torch_errors.hpp) naming the node.
  std::vector<at::Tensor> operator()(const std::function<const at::Tensor&(ValueId)>& lookup) const;
  //! Does the schema say that an output aliases an argument (view operators)?
  bool returns_view() const;
  //! May the sizes of its outputs depend on the values of its inputs (nonzero, boolean indexing)?
  bool sizes_depend_on_values() const;
  //! Does it draw random numbers?
  bool draws_random_numbers() const;
  //! The values that this argument of the schema reads; empty if there is no such argument.
  std::vector<ValueId> values_of(std::string_view argument) const;
  //! An argument of integers, given or by default; empty if there is none.
  std::vector<std::int64_t> integers_of(std::string_view argument) const;
  //! An argument that is a number, given or by default; 0 if there is none.
  double number_of(std::string_view argument) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudal1
