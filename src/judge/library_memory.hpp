// How much memory the library steps of a plan need, which must be set aside before they run.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! What steps hand to one another, at the worst moment, and room for what libraries use besides. The latter is nowhere
//! documented, and a convolution that finds less room than it would elsewhere runs another, slower way without a word:
//! so it is ample. `factor` makes it larger where it was not enough. 0: there are no such steps.
std::uint64_t library_bytes(const Plan& plan, std::uint64_t factor = 1);

//! Did a call fail because there was too little of it?
bool is_short_of_library_memory(const Failure& failure);

}  // namespace cudal1
