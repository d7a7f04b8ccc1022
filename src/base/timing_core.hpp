#pragma once

#include <optional>

namespace cudal1 {

//! Keeps one processor core free for timed host code and returns its number; empty on machines with fewer than four.
//! This process, and the children it starts from now on, stay off that core and its hyper-thread siblings. Runners
//! that are compared take turns on it, so that neither has the better core. Done once a process.
std::optional<int> reserve_timing_core();

//! Moves the calling thread to the core.
void move_to_core(int core);

}  // namespace cudal1
