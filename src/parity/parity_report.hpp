// What came of a task beside the PyTorch module that it was made from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace cudal1 {

struct ParityReport {
  std::string error;  //!< empty: the C++ executor and eager PyTorch agree within the error budget
  int nodes = 0;      //!< of the task's graph
  //! The largest share of its budget that the distance between any two results takes; above 1 they do not agree. None
  //! where there was nothing to compare.
  std::optional<double> budget_share;
  bool equal_bits = false;  //!< they agree in every bit
  bool degenerate = false;  //!< the output does not depend on the inputs
  double seconds = 0.0;

  bool ok() const { return error.empty(); }
};

nlohmann::json to_json(const ParityReport& report);
//! Throws Error when it is none.
ParityReport parity_from_json(const std::string& text);

}  // namespace cudal1
