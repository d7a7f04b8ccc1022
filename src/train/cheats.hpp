#pragma once

#include "base/status.hpp"

namespace cudal1 {

//! What an honest program does not come to by a slip. Not nondeterministic, out_of_bounds and unsafe, which are what
//! races and wrong indices look like: they earn nothing, and are failures among others.
inline bool is_cheat(Status status) {
  return status == Status::forbidden || status == Status::modified_input || status == Status::wrong_when_timed ||
         status == Status::clock_mismatch || status == Status::faster_than_possible;
}

}  // namespace cudal1
