// What a launch did, counted while it ran: what the timing model and the profile report are made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudal1::vgpu {

//! The parts of a multiprocessor that instructions keep busy.
enum class Pipe : std::uint8_t {
  single,      //!< fp32 add, multiply, fma, compare, minimum
  integer,     //!< integer, logic, shift, select, moves
  half,        //!< fp16 and bf16, scalar and packed
  twofold,     //!< fp64
  special,     //!< reciprocals, roots, sines, exponentials, logarithms
  conversion,  //!< between types
  tensor,      //!< mma
  memory,      //!< loads, stores, atomics, shuffles, ldmatrix, cp.async: issue only, traffic is counted apart
  control,     //!< branches, barriers, votes, fences
  either,      //!< of machine instructions: integer additions and shifts to the left, which two pipes can do
  multiply,    //!< of machine instructions: integer multiplications, done by half of the lanes for fp32
  count
};
inline constexpr std::size_t pipe_count = static_cast<std::size_t>(Pipe::count);

//! Of one kind of access to global or local memory.
struct Traffic {
  std::uint64_t requests = 0;      //!< warp instructions
  std::uint64_t sectors = 0;       //!< pieces of 32 bytes that they touched, each once a request
  std::uint64_t bytes_wanted = 0;  //!< by the lanes that took part
  std::uint64_t lines = 0;         //!< of 128 bytes that they touched, each once a request
  std::uint64_t passes = 0;        //!< of loads: over the 32 banks of the first-level cache, as for shared memory
};

//! Counts of a whole launch, or of the blocks of it that were run: `blocks` of `grid_blocks`.
struct KernelCounters {
  std::uint64_t grid_blocks = 0, blocks = 0;
  std::array<std::uint64_t, pipe_count> instructions{};  //!< of warps, by Pipe
  //! The same as NVIDIA's assembler would have it, roughly: see machine_code.hpp.
  std::array<std::uint64_t, pipe_count> machine_instructions{};
  std::uint64_t lanes = 0;  //!< that took part in them, in all
  std::uint64_t branches = 0, divergent_branches = 0;
  std::uint64_t barriers = 0;  //!< warps that came to one
  Traffic global_loads, global_stores, global_atomics, local_accesses;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_passes = 0;    //!< as many as requests where no two lanes want different words of one bank
  std::uint64_t constant_passes = 0;  //!< different addresses of requests to constant memory that name several
  //! Clocks that warps would take alone, by what they wait for: see warp_waits.hpp.
  std::uint64_t issue_clocks = 0, arithmetic_clocks = 0, shared_clocks = 0, global_clocks = 0;
  std::uint64_t shared_quad_passes = 0;  //!< as shared_passes, had each lane taken 16 bytes with the word it wants
  std::uint64_t tensor_products = 0;     //!< multiply-adds of mma instructions
  std::uint64_t distinct_bytes_read = 0, distinct_bytes_written = 0;  //!< of global memory, in whole sectors
  std::uint64_t block_bytes_read = 0;        //!< the same for loads, but counted for each block anew; 0: not counted
  std::uint64_t distinct_bytes_fetched = 0;  //!< as distinct_bytes_read, in whole pairs of sectors: what DRAM gives
  std::uint64_t bytes_read_again = 0;        //!< by loads, of what the same warp had read shortly before
  std::uint64_t busiest_atomics = 0;         //!< on 4 KiB of global memory: sectors of requests, more where lanes agree

  //! By Pipe, as a GPU would issue them; those of PTX where that was not counted.
  const std::array<std::uint64_t, pipe_count>& issued() const {
    for (const std::uint64_t count : machine_instructions)
      if (count > 0) return machine_instructions;
    return instructions;
  }

  std::uint64_t warp_instructions() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : instructions) sum += count;
    return sum;
  }
};

}  // namespace cudal1::vgpu
