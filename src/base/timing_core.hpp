#pragma once

#include <vector>

namespace cudal1 {

//! Keeps a few processor cores free for timed host code and returns their numbers; none on machines with fewer than
//! four. This process, and the children it starts from now on, stay off these cores and their hyper-thread siblings.
//! Runners that are compared take turns on one of them, so that neither has the better core; there are several because
//! on a shared machine any one may be slowed down for seconds by others. Done once a process.
const std::vector<int>& reserve_timing_cores();

//! Moves the calling thread to the core.
void move_to_core(int core);

}  // namespace cudal1
