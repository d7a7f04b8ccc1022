// A few steps of a recurrent cell, written out in linear layers and gates.
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

struct CellInput {
  ModuleValue x, hidden;  // (batch, features), (batch, hidden)
};

CellInput cell_input(Module& module, Choices& choices) {
  const std::int64_t batch = choices.size(6, 10), features = choices.size(7, 10), hidden = choices.size(7, 10);
  module.name_extent("batch_size", batch);
  module.name_size("input_size", features);
  module.name_size("hidden_size", hidden);
  CellInput made;
  made.x = module.input("x", {batch, features});
  made.hidden = module.input("hidden", {batch, hidden});
  return made;
}

//! tanh(W x + U h).
ModuleValue plain_cell(Module& module, Choices& choices, const ModuleValue& x, const ModuleValue& hidden) {
  if (choices.chance(0.4)) {
    const ModuleValue both = concatenate(module, {x, hidden}, -1);
    return unary(module, "tanh", linear(module, both, hidden.sizes.back()));
  }
  const ModuleValue from_x = linear(module, x, hidden.sizes.back());
  const ModuleValue from_hidden = linear(module, hidden, hidden.sizes.back(), false);
  return unary(module, choices.chance(0.7) ? "tanh" : "relu", binary(module, "add", from_x, from_hidden));
}

//! h + z (n - h) with a gate z, the smallest of gated cells.
ModuleValue minimal_gated_cell(Module& module, const ModuleValue& x, const ModuleValue& hidden) {
  const ModuleValue both = concatenate(module, {x, hidden}, -1);
  const ModuleValue gate = unary(module, "sigmoid", linear(module, both, hidden.sizes.back()));
  const ModuleValue fresh = unary(module, "tanh", linear(module, x, hidden.sizes.back()));
  const ModuleValue change = binary(module, "mul", gate, binary(module, "sub", fresh, hidden));
  return binary(module, "add", hidden, change);
}

//! A gated recurrent unit.
ModuleValue gated_cell(Module& module, const ModuleValue& x, const ModuleValue& hidden) {
  const std::int64_t size = hidden.sizes.back();
  const std::vector<ModuleValue> from_x = chunk(module, linear(module, x, 3 * size), 3);
  const std::vector<ModuleValue> from_hidden = chunk(module, linear(module, hidden, 3 * size), 3);
  const ModuleValue reset = unary(module, "sigmoid", binary(module, "add", from_x[0], from_hidden[0]));
  const ModuleValue update = unary(module, "sigmoid", binary(module, "add", from_x[1], from_hidden[1]));
  const ModuleValue kept = binary(module, "mul", reset, from_hidden[2]);
  const ModuleValue fresh = unary(module, "tanh", binary(module, "add", from_x[2], kept));
  const ModuleValue change = binary(module, "mul", update, binary(module, "sub", hidden, fresh));
  return binary(module, "add", fresh, change);
}

//! A cell with long short-term memory; both the hidden state and the memory are results.
void memory_cell(Module& module, const ModuleValue& x, const ModuleValue& hidden) {
  const std::int64_t size = hidden.sizes.back();
  const ModuleValue memory = module.input("memory", hidden.sizes);
  const ModuleValue from_x = linear(module, x, 4 * size);
  const ModuleValue from_hidden = linear(module, hidden, 4 * size, false);
  const std::vector<ModuleValue> gates = chunk(module, binary(module, "add", from_x, from_hidden), 4);
  const ModuleValue forget = unary(module, "sigmoid", gates[1]);
  const ModuleValue old = binary(module, "mul", forget, memory);
  const ModuleValue entered = unary(module, "sigmoid", gates[0]);
  const ModuleValue fresh = binary(module, "mul", entered, unary(module, "tanh", gates[2]));
  const ModuleValue kept = binary(module, "add", old, fresh);
  const ModuleValue shown = unary(module, "sigmoid", gates[3]);
  module.output(binary(module, "mul", shown, unary(module, "tanh", kept)));
  module.output(kept);
}

}  // namespace

Module describe_recurrent(Choices& choices) {
  Module module;
  const CellInput given = cell_input(module, choices);
  if (choices.hard_chance(0.3)) {
    memory_cell(module, given.x, given.hidden);
    return module;
  }
  ModuleValue hidden = given.hidden;
  if (choices.hard_chance(0.35))
    hidden = gated_cell(module, given.x, hidden);
  else if (choices.hard_chance(0.4))
    hidden = minimal_gated_cell(module, given.x, hidden);
  else
    hidden = plain_cell(module, choices, given.x, hidden);
  if (choices.hard_chance(0.4)) {
    const std::int64_t out = choices.size(6, 9);
    module.name_size("output_size", out);
    hidden = linear(module, hidden, out);
  }
  module.output(hidden);
  return module;
}

}  // namespace cudal1
