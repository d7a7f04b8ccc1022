#include "model/transformer/checkpointing.hpp"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace cudal1 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

//! Lets a function travel in the context from the forward pass to the backward pass.
struct FunctionHolder : torch::CustomClassHolder {
  explicit FunctionHolder(TensorFunction held) : function(std::move(held)) {}
  TensorFunction function;
};

struct Recomputed : torch::autograd::Function<Recomputed> {
  static at::Tensor forward(AutogradContext* context, TensorFunction function, at::Tensor input,
                            at::TensorList parameters) {
    const at::Tensor output = function(input);  // apply() has turned gradients off
    context->saved_data["function"] =
        c10::IValue::make_capsule(c10::make_intrusive<FunctionHolder>(std::move(function)));
    variable_list saved = {input};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(saved);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list output_gradients) {
    variable_list inputs = context->get_saved_variables();
    inputs[0] = inputs[0].detach().requires_grad_(inputs[0].requires_grad());
    const at::AutoGradMode with_gradients(true);
    const auto holder = context->saved_data["function"].toCapsule();
    const at::Tensor output = static_cast<const FunctionHolder&>(*holder).function(inputs[0]);
    variable_list wanted;
    for (const at::Tensor& input : inputs)
      if (input.requires_grad()) wanted.push_back(input);
    const variable_list found = torch::autograd::grad({output}, wanted, {output_gradients[0]}, false, false, true);
    return in_order_of_arguments(inputs, found);
  }

  //! One entry for each argument of forward: none for the function.
  static variable_list in_order_of_arguments(const variable_list& inputs, const variable_list& found) {
    variable_list gradients = {at::Tensor()};
    std::size_t next = 0;
    for (const at::Tensor& input : inputs) gradients.push_back(input.requires_grad() ? found[next++] : at::Tensor());
    return gradients;
  }
};

}  // namespace

at::Tensor checkpointed(TensorFunction function, const at::Tensor& input, const std::vector<at::Tensor>& parameters) {
  if (!at::GradMode::is_enabled()) return function(input);
  return Recomputed::apply(std::move(function), input, at::TensorList(parameters));
}

}  // namespace cudal1
