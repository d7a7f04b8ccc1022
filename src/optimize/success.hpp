// When a written program counts as a success. The empty program is always right, so being right is not enough: a model
// would learn to write nothing.
#pragma once

#include <string_view>

#include "base/status.hpp"

namespace cudal1 {

inline constexpr double least_replaced_share = 0.5;

struct WrittenProgram {
  Status status = Status::ok;
  std::string_view plan_hash;
  std::string_view empty_plan_hash;  //!< of the empty program for the same task
  double replaced_share = 0.0;       //!< of the reference's time (replaced_time.hpp)
};

//! Verified, not what the empty program comes down to, and at least half of the reference's time is replaced.
inline bool is_success(const WrittenProgram& program) {
  return is_correct(program.status) && !program.plan_hash.empty() && program.plan_hash != program.empty_plan_hash &&
         program.replaced_share >= least_replaced_share;
}

}  // namespace cudal1
