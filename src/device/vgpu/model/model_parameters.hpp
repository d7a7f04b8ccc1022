// What the timing model cannot know from a data sheet: numbers that a fit to measured times finds.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cudal1::vgpu {

struct ModelParameters {
  double soft_maximum_exponent = 0;  //!< p of (a^p + b^p + …)^(1/p): how well components overlap where waves are many
  double phase_share = 0;            //!< how far a single wave, whose blocks are all at the same place, is from that
  double pipe_efficiency = 0;        //!< share of a pipe's rate that instructions reach
  double issue_efficiency = 0;       //!< share of the schedulers' rate
  double l1_hit_share = 0;           //!< of other repeated reads that L1 could hold
  double store_sector_clocks = 0;    //!< of L1, for every sector of a store
  double store_line_clocks = 0;      //!< for every line of it
  double l2_efficiency = 0;          //!< share of the profile's rate of L2
  double eviction_share = 0;    //!< of what moves, as far as L2 holds it, for which something else is written to DRAM
  double write_back_share = 0;  //!< of what is written that reaches DRAM within the kernel's time, if L2 could hold it
  double latency_weight = 0;    //!< on the time a warp waits: below 1 where more overlaps than the PTX shows
  double dram_latency_weight = 0;        //!< on the profile's latency of DRAM
  double barrier_cycles = 0;             //!< a warp at a barrier, beyond what it waits for others
  double block_start_cycles = 0;         //!< from the start of a block to its first instruction, and its end
  double block_dispatch_cycles = 0;      //!< between two blocks that start on one multiprocessor
  double warp_dispatch_cycles = 0;       //!< the same for every warp of theirs
  double tail_share = 0;                 //!< of the last wave's idle part that costs time
  double atomics_per_clock = 0;          //!< sectors of atomics that the chip's L2 takes
  double busiest_atomics_per_clock = 0;  //!< of those on one 4 KiB of memory
};

//! One of them: its name in the file, where a fit may move it, and what it is.
struct ModelParameter {
  const char* name;
  double ModelParameters::*value;
  double low, high;
};
std::span<const ModelParameter> model_parameters();

//! gpus/model.json as it was when the program was built, or the file at the path. Throws Error with file and place.
ModelParameters load_model(const std::string& path = "model");
//! The one that comes with the program; read once.
const ModelParameters& built_in_model();
ModelParameters parse_model(std::string_view text, const std::string& file);
//! The text of such a file; `why` is said of every number.
std::string model_file(const ModelParameters& parameters, const std::string& why);

}  // namespace cudal1::vgpu
