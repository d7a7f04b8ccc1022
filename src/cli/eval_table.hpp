#pragma once

#include <string>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

//! Evaluations as lines for a person.
class EvalTable {
 public:
  explicit EvalTable(bool verbose) : verbose_(verbose) {}
  void add(const Evaluation& evaluation) { rows_.push_back(evaluation); }
  void print(const std::string& device) const;

 private:
  bool verbose_;
  std::vector<Evaluation> rows_;
};

}  // namespace cudal1
