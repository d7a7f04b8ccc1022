#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

//! Evaluations as lines for a person, each as soon as it is known.
class EvalTable {
 public:
  //! `programs`: the names of all that will come, in any order.
  EvalTable(const std::vector<std::string>& programs, std::string device, bool verbose);
  void print(const Evaluation& evaluation);

 private:
  std::string device_;
  bool verbose_, is_empty_ = true;
  std::size_t name_width_ = 7, status_width_ = 6;
};

}  // namespace cudal1
