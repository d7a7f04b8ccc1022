// What a GPU can do, as numbers: gpus/h200.json and its kin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::vgpu {

struct GpuProfile {
  std::string name;                //!< "h200"
  std::string title;               //!< "NVIDIA H200 SXM, 141 GB"
  std::string compute_capability;  //!< "9.0"

  struct Chip {
    std::int64_t multiprocessors = 0;
    double clock_ghz = 0;
  } chip;

  //! Of a multiprocessor, where nothing else is said.
  struct Limits {
    std::int64_t warps = 0, blocks = 0, threads = 0, threads_per_block = 0;
    std::int64_t registers = 0, registers_per_thread = 0;
    std::int64_t register_granularity = 0;  //!< a warp gets a multiple of this
    std::int64_t warp_granularity = 0;      //!< register files, from which warps get theirs in turn
    std::int64_t shared_bytes = 0, shared_bytes_per_block = 0;
    std::int64_t shared_reserved_bytes = 0;  //!< of each block, for the system
    std::int64_t shared_granularity = 0;
  } limits;

  //! Lanes a clock and multiprocessor, by Pipe (counters.hpp). A packed half instruction is one lane.
  struct Pipes {
    double schedulers = 0;  //!< warp instructions a clock
    double single = 0, integer = 0, half = 0, twofold = 0, special = 0, conversion = 0, memory = 0;
    double shared_bytes = 0;        //!< that shared memory moves in a clock
    double constant_addresses = 0;  //!< of constant memory that are served in a clock
  } pipes;

  //! Multiply-adds a clock and multiprocessor, dense.
  struct Tensor {
    double f16 = 0, bf16 = 0, tf32 = 0, s8 = 0, f64 = 0;
    double mma_share = 0;  //!< of these rates that mma.sync reaches
  } tensor;

  struct Memory {
    std::int64_t l1_bytes = 0;           //!< L1 and shared memory of a multiprocessor together
    double l1_bytes_per_clock = 0;       //!< of a multiprocessor
    double l1_lines_per_clock = 0;       //!< that it looks up
    std::int64_t l2_bytes = 0;           //!< of the chip
    double l2_port_bytes_per_clock = 0;  //!< between L2 and one multiprocessor
    double l2_bytes_per_second = 0;      //!< of the chip
    double dram_bytes_per_second = 0;    //!< peak
    double dram_achievable = 0;          //!< share of the peak that a copy reaches
  } memory;

  //! In clocks, from issue to use.
  struct Latency {
    double arithmetic = 0, special = 0, shared = 0, l1 = 0, l2 = 0, dram = 0;
  } latency;

  //! On the device; what the host takes is the judge's affair.
  struct Costs {
    double call_us = 0;          //!< once a call, whatever is in it
    double launch_us = 0;        //!< a kernel in a stream
    double graph_launch_us = 0;  //!< a kernel in a CUDA Graph
    double library_call_us = 0;  //!< an op step, beyond its launches
  } costs;

  double clocks_per_second() const { return chip.clock_ghz * 1e9; }
  double dram_achievable_bytes_per_second() const { return memory.dram_bytes_per_second * memory.dram_achievable; }
};

//! One that comes with the program, by name, or a file of the same format. Throws Error: one line with file and place.
GpuProfile find_profile(const std::string& name_or_path);
GpuProfile parse_profile(std::string_view text, const std::string& file);

//! Those that come with the program, sorted.
std::vector<std::string> profile_names();

}  // namespace cudal1::vgpu
