#include "judge/result_unit.hpp"

#include "graph/operator_name.hpp"

namespace cudal1 {

ResultUnit result_unit(std::string_view op) {
  op = base_name(op);
  const auto is = [op](auto... names) { return ((op == names) || ...); };
  if (is("tanh", "elu", "selu", "celu", "expm1", "log1p", "sinh", "asinh", "atanh", "erf", "sigmoid", "log_sigmoid",
         "log_sigmoid_forward", "softplus", "rnn_tanh_cell", "gru_cell", "lstm_cell", "rnn_tanh", "gru", "lstm"))
    return ResultUnit::one;
  if (is("gelu", "silu", "mish")) return ResultUnit::argument;
  if (is("glu")) return ResultUnit::gate;
  if (is("cumsum")) return ResultUnit::scan;
  if (is("var", "var_mean")) return ResultUnit::square;
  if (is("std", "std_mean")) return ResultUnit::root;
  const auto contains = [op](auto... parts) { return ((op.find(parts) != std::string_view::npos) || ...); };
  if (contains("layer_norm", "group_norm", "batch_norm", "instance_norm")) return ResultUnit::norm;
  return ResultUnit::result;
}

}  // namespace cudal1
