// Random PTX programs, run by the machine and by the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace cudal1::vgpu {

//! A number in [0, bound): what a random or fuzzed program is made of.
using Choose = std::function<std::uint64_t(std::uint64_t bound)>;

//! Arithmetic in a line, with guards, branches forward and a loop that lanes leave at different times. Empty where the
//! machine and the oracle agree, bit for bit; else the program and where they differ.
std::string try_random_program(const Choose& choose);

}  // namespace cudal1::vgpu
