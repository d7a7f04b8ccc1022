// A program on the virtual GPU, in memory that is reserved and hardly touched: tensors may span more than the machine
// has, and places in them more than 32 bits count. The judge cannot do that: it poisons and compares all of it.
#pragma once

#include "technique_harness.hpp"

namespace cudal1::testing {

//! Runs the program whole, and compares every result and state with ATen's on the same memory. "ok", or what is wrong.
std::string sparse_verdict(const TaskText& task, const std::string& program);

//! Runs the first and the last block of a program with one launch. `corner` is the task with fewer elements: of every
//! tensor the last of each dimension, the only ones that are not zero. What the last block has made of them is compared
//! with what ATen makes of the corner.
std::string corner_verdict(const TaskText& task, const TaskText& corner, const std::string& program);

}  // namespace cudal1::testing
