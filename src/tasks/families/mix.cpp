// Layers, norms and pointwise lines in a row: what lies between the inputs and outputs of a network's blocks.
#include "tasks/epilogues.hpp"
#include "tasks/families.hpp"
#include "tasks/layers.hpp"
#include "tasks/operators.hpp"

namespace cudal1 {
namespace {

enum class Step { product, pointwise, norm, residual, gate };

constexpr std::size_t fewest_nodes = 3, most_nodes = 6;
constexpr std::size_t gate_nodes = 3;  // chunk, activation, product; all other steps have one node or none

ModuleValue gated(Module& module, Choices& choices, const ModuleValue& x) {
  const std::vector<ModuleValue> halves = chunk(module, x, 2);
  return binary(module, "mul", any_activation(module, choices, halves[0]), halves[1]);
}

ModuleValue any_norm(Module& module, Choices& choices, const ModuleValue& x) {
  const std::int64_t kind = choices.below(4);
  if (kind == 3) return along(module, "softmax", x, -1);
  return kind == 2 ? rms_norm(module, x) : layer_norm(module, x);
}

//! Never the same kind twice in a row, no second product in an easy module, and no gate beyond the most nodes.
Step next_step(Choices& choices, Step before, int products, std::size_t nodes) {
  while (true) {
    const auto step = static_cast<Step>(choices.below(5));
    if (step == before) continue;
    if (step == Step::product && products >= (choices.difficulty() < 0.5 ? 1 : 3)) continue;
    if (step == Step::gate && nodes + gate_nodes > most_nodes) continue;
    return step;
  }
}

class Chain {
 public:
  explicit Chain(Choices& choices) : choices_(choices) {
    const std::int64_t rows = choices.size(7, 11), features = choices.size_of_multiple(7, 10, 2);
    module_.name_extent("batch_size", rows);
    module_.name_size("features", features);
    hidden_ = choices.size_of_multiple(7, 10, 2);
    module_.name_size("hidden", hidden_);
    const ModuleValue x = module_.input("x", {rows, features});
    values_.push_back(x);
  }

  Module take() {
    const auto wanted = static_cast<std::size_t>(choices_.count(fewest_nodes, most_nodes));
    Step before = Step::pointwise;
    while (module_.node_count() < wanted) {
      before = next_step(choices_, before, products_, module_.node_count());
      add(before);
    }
    module_.output(values_.back());
    return std::move(module_);
  }

 private:
  void add(Step step) {
    const ModuleValue x = values_.back();
    if (step == Step::product) {
      ++products_;
      values_.push_back(linear(module_, x, hidden_, !choices_.chance(0.3)));
    } else if (step == Step::norm) {
      values_.push_back(any_norm(module_, choices_, x));
    } else if (step == Step::residual) {
      add_residual(x);
    } else if (step == Step::gate && x.sizes.back() % 2 == 0) {
      values_.push_back(gated(module_, choices_, x));
    } else {
      values_.push_back(pointwise_epilogue(module_, choices_, x, 1, 1));
    }
  }

  //! To a value of before that fits, else nothing is added.
  void add_residual(const ModuleValue& x) {
    std::vector<ModuleValue> fitting;
    for (const ModuleValue& value : values_)
      if (value.id != x.id && value.sizes == x.sizes) fitting.push_back(value);
    if (!fitting.empty()) values_.push_back(binary(module_, "add", x, choices_.any(fitting)));
  }

  Choices& choices_;
  Module module_;
  std::vector<ModuleValue> values_;
  std::int64_t hidden_ = 0;
  int products_ = 0;
};

}  // namespace

Module describe_mix(Choices& choices) { return Chain(choices).take(); }

}  // namespace cudal1
