// Turns the arguments of a node into what a boxed call of its operator takes, as far as they are known beforehand.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! Where tensors go into the stack of a call.
struct TensorSlot {
  enum class Form { single, list, optional_list };
  std::size_t position = 0;
  Form form = Form::single;
  std::vector<ValueId> ids;  //!< -1: None
};

//! Everything of a call but its tensors.
struct CallTemplate {
  torch::jit::Stack stack;
  std::vector<TensorSlot> slots;
};

//! Throws Error with the argument's name.
CallTemplate make_call_template(const c10::FunctionSchema& schema, const Node& node, at::Device device, bool widen);

}  // namespace cudal1
