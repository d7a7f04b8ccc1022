// Random small tasks of pointwise nodes, views, moves and reductions, for tests of fusions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "technique_harness.hpp"

namespace cudal1::testing {

struct RandomTask {
  TaskText task;
  std::vector<std::string> nodes;  //!< all, in order
};

//! The same for the same seed.
RandomTask random_task(std::uint64_t seed);

//! Some neighbouring nodes of it, as a line of a program.
std::string random_fusion(const RandomTask& task, std::uint64_t seed);

}  // namespace cudal1::testing
