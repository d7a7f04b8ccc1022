// Random PTX programs of one block, run by the machine and by the oracle: what threads do together.
#pragma once

#include "random_program.hpp"

namespace cudal1::vgpu {

//! Shuffles, votes, matches, reductions, matrices, barriers, shared memory, copies and atomics of one to four warps,
//! with arithmetic between them. Nothing in it depends on the order of threads. Empty where the machine and the oracle
//! agree, bit for bit, on all registers and all memory; else the program and where they differ.
std::string try_random_block_program(const Choose& choose);

}  // namespace cudal1::vgpu
