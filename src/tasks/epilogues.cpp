#include "tasks/epilogues.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

//! Of these the first that the module has not given to anything.
std::string free_name(const Module& module, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto is_called = [&](const ModuleValue& value) { return value.name == name; };
    if (std::ranges::none_of(module.values(), is_called)) return name;
  }
  return fmt::format("{}{}", names.front(), module.values().size());
}

ModuleValue with_parameter(Module& module, Choices& choices, const ModuleValue& x, std::int64_t channel_dim) {
  Shape sizes(x.sizes.size() - static_cast<std::size_t>(channel_dim), 1);  // broadcasts over what lies before
  sizes.front() = x.sizes[static_cast<std::size_t>(channel_dim)];
  const bool is_scale = choices.chance(0.5) || x.range == NumberRange::far;
  const auto names = is_scale ? std::vector<std::string>{"scale", "gain"} : std::vector<std::string>{"shift", "offset"};
  const ModuleValue parameter = module.parameter(free_name(module, names), sizes);
  return binary(module, is_scale ? "mul" : "add", x, parameter);
}

ModuleValue with_input(Module& module, Choices& choices, const ModuleValue& x) {
  const bool is_gate = choices.chance(0.4) || x.range == NumberRange::far;
  const auto names = is_gate ? std::vector<std::string>{"gate", "mask"} : std::vector<std::string>{"residual", "other"};
  const ModuleValue input = module.input(free_name(module, names), x.sizes);
  return binary(module, is_gate ? "mul" : "add", x, input);
}

//! What is added to very small numbers would be all that is left of them.
ModuleValue with_any_number(Module& module, Choices& choices, const ModuleValue& x) {
  const auto kind = x.range == NumberRange::far
                        ? choices.any(std::vector<std::string_view>{"mul", "div"})
                        : choices.any(std::vector<std::string_view>{"add", "sub", "mul", "div"});
  const double number = choices.any(std::vector<double>{0.25, 0.5, 1.5, 2.0, 3.0});
  ModuleValue made = with_number(module, kind, x, number);
  if (kind == "add" || kind == "sub") made.range = std::max(x.range, NumberRange::one_sign);
  return made;
}

}  // namespace

ModuleValue any_activation(Module& module, Choices& choices, const ModuleValue& x) {
  if (x.range == NumberRange::far) return with_any_number(module, choices, x);
  return unary(module, choices.any(activations(x.range)), x);
}

ModuleValue pointwise_epilogue(Module& module, Choices& choices, ModuleValue x, std::int64_t lines,
                               std::int64_t channel_dim) {
  bool was_activation = false;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t kind = choices.below(10);
    const bool is_far = x.range == NumberRange::far;
    const bool is_activation = kind < 5 && !was_activation && !is_far;
    if (is_activation)
      x = any_activation(module, choices, x);
    else if (kind < 6)
      x = with_any_number(module, choices, x);
    else if (kind < 8 || is_far)
      x = with_parameter(module, choices, x, channel_dim);
    else if (kind < 9)
      x = with_input(module, choices, x);
    else
      x = unary(module, choices.any(gentle_functions(x.range)), x);
    was_activation = is_activation;
  }
  return x;
}

}  // namespace cudal1
