#pragma once

#include <string_view>

namespace cudal1 {

//! What the rounding errors of a function's usual formulas are relative to.
enum class ResultUnit {
  result,    //!< the result itself
  one,       //!< numbers around one: exp(x) - 1 for ELU, 1 - 2 / (exp(2x) + 1) for tanh, log(1 + exp(x)) for softplus
  argument,  //!< x times a number around one that may nearly cancel: x (1 + tanh(u)) / 2 for GELU
  square,    //!< squares of the argument about zero, or about one of its elements: variances in one pass
  root,      //!< the same under a square root
  gate,      //!< the half of the argument that is multiplied by a number around one: GLU
  norm,      //!< the result, enlarged by what its variance loses in one pass: normalisations
  scan,      //!< the largest of the sums: a total less the sums from the other end
};

//! By the operator's name, "aten::" and overload included or not.
ResultUnit result_unit(std::string_view op);

}  // namespace cudal1
