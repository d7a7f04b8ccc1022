// A model whose weights have become useless says so by scores that are not numbers.
#pragma once

#include "base/result.hpp"

namespace cudal1 {

//! Nothing can be drawn from these scores: whoever trains the model leaves the step out, others end.
class ScoresNotNumbers : public Error {
 public:
  ScoresNotNumbers() : Error("the model's scores are not numbers; use another dtype or check the model file") {}
};

}  // namespace cudal1
